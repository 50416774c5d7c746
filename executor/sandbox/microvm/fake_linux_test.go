package microvm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/relay"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// The test program is a monitor as well: with the arguments of Firecracker it
// serves the same API, checks every request, and "boots" a real agent with
// what is in the first root. What it does wrong is in its kernel image.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "--api-sock":
		fakeMonitor()
	case os.Getenv("TOOLWARRANT_TEST_PARENT") != "":
		parentThatIsKilled()
	}
	code := m.Run()
	_ = os.RemoveAll(worldFolder)
	os.Exit(code)
}

// fake is the state of one machine.
type fake struct {
	fault  string // of fd 3, the kernel
	dir    string
	done   []string
	bodies map[string]json.RawMessage
}

func fakeMonitor() {
	kernel, err := os.ReadFile("/proc/self/fd/3")
	if err != nil || len(os.Args) != 5 || os.Args[2] != apiSocket || os.Args[3] != "--id" {
		fmt.Println("fake: no kernel or other arguments", os.Args, err)
		os.Exit(1)
	}
	f := &fake{fault: string(kernel), dir: workingDir(), bodies: map[string]json.RawMessage{}}
	switch f.fault {
	case "dies at once":
		fmt.Println("fake: \x1b[31mno such instruction\x1b[0m")
		os.Exit(3)
	case "no API":
		select {}
	}
	if os.Geteuid() == 0 {
		fmt.Println("fake: the monitor has the rights of root")
		os.Exit(4)
	}
	l, err := net.Listen("unix", os.Args[2])
	if err != nil {
		fmt.Println("fake:", err)
		os.Exit(1)
	}
	_ = http.Serve(l, f)
}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(format string, args ...any) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"fault_message": fmt.Sprintf(format, args...)})
	}
	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + r.URL.Path
	if what == "GET /" {
		io.WriteString(w, `{"id":"sandbox","state":"Not started","vmm_version":"1.13.0","app_name":"Firecracker"}`)
		return
	}
	order := []string{"PUT /machine-config", "PUT /boot-source", "PUT /vsock", "PUT /actions"}
	if len(f.done) >= len(order) || what != order[len(f.done)] {
		refuse("%s after %v", what, f.done)
		return
	}
	f.done = append(f.done, what)
	f.bodies[r.URL.Path] = body
	if what == "PUT /actions" {
		if string(body) != `{"action_type":"InstanceStart"}` {
			refuse("an action %s", body)
			return
		}
		switch f.fault {
		case "refuses to start":
			refuse("Error creating KVM object: no nested virtualization")
			return
		case "dies at start":
			fmt.Println("fake: triple fault")
			os.Exit(1)
		case "hangs at start":
			<-r.Context().Done()
			return
		}
		if err := f.boot(); err != nil {
			refuse("%v", err)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// boot checks what was set and starts the guest.
func (f *fake) boot() error {
	var machine struct {
		VCPUs  int `json:"vcpu_count"`
		Memory int `json:"mem_size_mib"`
	}
	var boot struct {
		Kernel    string `json:"kernel_image_path"`
		Initrd    string `json:"initrd_path"`
		Arguments string `json:"boot_args"`
	}
	var vsock struct {
		CID    int    `json:"guest_cid"`
		Socket string `json:"uds_path"`
	}
	for path, into := range map[string]any{"/machine-config": &machine, "/boot-source": &boot, "/vsock": &vsock} {
		d := json.NewDecoder(bytes.NewReader(f.bodies[path]))
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, want := range []string{"rdinit=" + guest.Program, guest.StreamVariable + "=vsock:1024", guest.MemoryVariable + "=", "reboot=k", "panic=-1", "pci=off"} {
		if !strings.Contains(boot.Arguments, want) {
			return fmt.Errorf("no %s in %q", want, boot.Arguments)
		}
	}
	if machine.VCPUs < 1 || machine.Memory < 64 || boot.Kernel != "/proc/self/fd/3" || vsock.CID < 3 {
		return fmt.Errorf("a machine of %+v, %+v, %+v", machine, boot, vsock)
	}
	raw, err := os.ReadFile(boot.Initrd)
	if err != nil {
		return err
	}
	root := filepath.Join(f.dir, "guest")
	if err := unpackCPIO(raw, root); err != nil {
		return err
	}
	if _, err := os.Stat(root + guest.Program); err != nil {
		return err
	}
	l, err := net.Listen("unix", vsock.Socket)
	if err != nil {
		return err
	}
	fmt.Println("fake: console of the guest")
	go f.serveVsock(l, root)
	return nil
}

func (f *fake) serveVsock(l net.Listener, root string) {
	for tries := 0; ; tries++ {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		line := make([]byte, len("CONNECT 1024\n"))
		_, err = io.ReadFull(conn, line)
		if err != nil || string(line) != "CONNECT 1024\n" || tries == 0 || f.fault == "kernel does not boot" {
			conn.Close() // as long as nobody in the guest listens
			continue
		}
		io.WriteString(conn, "OK 1073741824\n")
		switch f.fault {
		case "guest says nothing":
			select {}
		case "guest says nonsense":
			io.WriteString(conn, "\x00\xff toolwarrant? no, another program\n")
			select {}
		case "guest floods":
			io.WriteString(conn, guest.Hello)
			for {
				if _, err := conn.Write(bytes.Repeat([]byte("MMMM"), 1000)); err != nil {
					select {}
				}
			}
		case "guest leaves":
			io.WriteString(conn, guest.Hello)
			conn.Close()
			select {}
		}
		io.WriteString(conn, guest.Hello)
		if err := serveGuest(conn, root); err != nil {
			fmt.Println("fake: guest:", err)
		}
		os.Exit(0)
	}
}

// serveGuest is guest.Serve where there is no right to more than one user.
func serveGuest(conn io.ReadWriteCloser, root string) error {
	near, far, err := wire.Pair()
	if err != nil {
		return err
	}
	c := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{agent.Name}, Env: []string{}, Dir: "/", Stdout: os.Stdout, Stderr: os.Stdout,
		ExtraFiles: []*os.File{far},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
				syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
			Pdeathsig: syscall.SIGKILL, Setsid: true,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
			Credential:  &syscall.Credential{NoSetGroups: true},
		},
	}
	if err := c.Start(); err != nil {
		return err
	}
	far.Close()
	asked := func(m *wire.Message) {
		if m.Config == nil {
			return
		}
		m.Config.UID, m.Config.GID = 0, 0
		m.Config.RootPath = root + m.Config.RootPath
		for i := range m.Config.Mounts {
			at := &m.Config.Mounts[i]
			at.Source = root + at.Source
			var info syscall.Stat_t
			if syscall.Lstat(at.Source, &info) == nil {
				at.Dev, at.Ino = info.Dev, info.Ino
			}
		}
	}
	told := func(m *wire.Message) {
		if m.Exited != nil && m.Exited.Code == 137 {
			m.Exited.Killed = 1 // as the control group of a machine tells it
		}
	}
	return relay.Guest(stream.New(conn, false), near, asked, told)
}

// unpackCPIO is what a kernel does with a first root.
func unpackCPIO(raw []byte, to string) error {
	for at := 0; ; {
		if at+110 > len(raw) || string(raw[at:at+6]) != "070701" {
			return fmt.Errorf("the first root breaks off at %d", at)
		}
		field := func(i int) int {
			v, _ := strconv.ParseUint(string(raw[at+6+8*i:at+14+8*i]), 16, 32)
			return int(v)
		}
		mode, size, length := field(1), field(6), field(11)
		name := string(raw[at+110 : at+110+length-1])
		begin := (at + 110 + length + 3) &^ 3
		body := raw[begin : begin+size]
		at = (begin + size + 3) &^ 3
		path := filepath.Join(to, name)
		var err error
		switch {
		case name == "TRAILER!!!":
			return nil
		case mode>>12 == 0o04:
			err = os.MkdirAll(path, 0o755)
		case mode>>12 == 0o10:
			err = os.WriteFile(path, body, os.FileMode(mode&0o777))
		case mode>>12 == 0o12:
			err = os.Symlink(string(body), path)
		}
		if err != nil {
			return err
		}
	}
}

// parentThatIsKilled starts machines, says so, and waits for its end.
func parentThatIsKilled() {
	var o Options
	if err := json.Unmarshal([]byte(os.Getenv("TOOLWARRANT_TEST_PARENT")), &o); err != nil {
		panic(err)
	}
	for range 2 {
		box, err := NewFirecracker(o).Create(noContext, testSpec())
		if err == nil {
			err = box.Start(noContext)
		}
		if err != nil {
			fmt.Println("parent:", err)
			os.Exit(1)
		}
		_, _ = box.Attach(noContext, shell("trap '' TERM INT; while :; do sleep 1000; done"))
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
