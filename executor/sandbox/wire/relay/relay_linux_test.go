package relay

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// rig is a parent's and an agent's end with a host, a stream and a guest
// between them.
type rig struct {
	parent, agent *wire.Conn
	host, guest   chan error
}

func control(t *testing.T) (near, far *wire.Conn) {
	t.Helper()
	near, file, err := wire.Pair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return near, wire.NewConn(file)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{host: make(chan error, 1), guest: make(chan error, 1)}
	a, b := net.Pipe()
	near, far := stream.New(a, true), stream.New(b, false)
	parent, host := control(t)
	agent, guest := control(t)
	r.parent, r.agent = parent, agent
	go func() { r.host <- Host(near, host, nil) }()
	go func() {
		r.guest <- Guest(far, guest, nil, func(m *wire.Message) {
			if m.Exited != nil {
				m.Exited.Orphans = 7
			}
		})
	}()
	return r
}

// runCommands is an agent without any confinement.
func (r *rig) runCommands() {
	for {
		m, files, err := r.agent.Receive()
		if err != nil || m.Exec == nil || len(files) != stdio {
			return
		}
		c := exec.Command(m.Exec.Argv[0], m.Exec.Argv[1:]...)
		c.Stdin, c.Stdout, c.Stderr = files[0], files[1], files[2]
		_ = c.Run()
		closeAll(files)
		if r.agent.Send(wire.Message{Kind: wire.KindExited, Exited: &wire.Exited{Code: c.ProcessState.ExitCode()}}) != nil {
			return
		}
	}
}

// start sends a command as a parent does and gives the parent's ends.
func (r *rig) start(t *testing.T, argv ...string) (in io.WriteCloser, out, errs io.ReadCloser) {
	t.Helper()
	var ours, theirs [stdio]*os.File
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = pipe(i == 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ours[i].Close() })
	}
	if err := r.parent.Send(wire.Message{Kind: wire.KindExec, Exec: &wire.Exec{Argv: argv}}, theirs[:]...); err != nil {
		t.Fatal(err)
	}
	closeAll(theirs[:])
	return ours[0], ours[1], ours[2]
}

func (r *rig) exited(t *testing.T) wire.Exited {
	t.Helper()
	m, _, err := r.parent.Receive()
	if err != nil || m.Exited == nil {
		t.Fatalf("received %+v, %v", m, err)
	}
	if m.Exited.Orphans != 7 {
		t.Error("the guest changed nothing of what the agent said")
	}
	return *m.Exited
}

func TestCommandsThroughTheStream(t *testing.T) {
	r := newRig(t)
	go r.runCommands()
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, tt := range []struct {
		name, script string
		in           []byte
		out, errs    string
		code         int
	}{
		{"all streams", `cat; echo bad >&2; exit 3`, []byte("hello"), "hello", "bad\n", 3},
		{"1 MiB through", `cat`, big, string(big), "", 0},
		{"input nobody reads", `exec 0<&-; echo done`, big, "done\n", "", 0},
		{"nothing", `true`, nil, "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, out, errs := r.start(t, "/bin/sh", "-c", tt.script)
			go func() {
				_, _ = in.Write(tt.in)
				in.Close()
			}()
			second := make(chan string, 1)
			go func() {
				b, _ := io.ReadAll(errs)
				second <- string(b)
			}()
			got, err := io.ReadAll(out)
			if err != nil || string(got) != tt.out {
				t.Errorf("%d bytes of output, want %d (%v)", len(got), len(tt.out), err)
			}
			if e := <-second; e != tt.errs {
				t.Errorf("errors %q", e)
			}
			if e := r.exited(t); e.Code != tt.code {
				t.Errorf("code %d", e.Code)
			}
		})
	}
	// A parent that goes away ends everything.
	r.parent.Close()
	if err := <-r.host; err != nil {
		t.Error(err)
	}
	if err := <-r.guest; err != nil {
		t.Error(err)
	}
}

func TestCommandWhoseOutputNobodyWants(t *testing.T) {
	r := newRig(t)
	go r.runCommands()
	_, out, _ := r.start(t, "/bin/sh", "-c", "while :; do echo x; done")
	_ = out.Close()
	if e := r.exited(t); e.Code == 0 {
		t.Errorf("it ended with %d", e.Code)
	}
}

// TestHostile lets a guest send what it must not.
func TestHostile(t *testing.T) {
	for name, say := range map[string]func(m *stream.Mux){
		"opens channels": func(m *stream.Mux) { _, _ = m.Send([]byte(`{}`), 3) },
		"is not JSON":    func(m *stream.Mux) { _, _ = m.Send([]byte(`{`), 0) },
		"floods": func(m *stream.Mux) {
			for {
				if _, err := m.Send([]byte(`{"kind":"exited","error":"`+strings.Repeat("x", 1<<16)+`"}`), 0); err != nil {
					return
				}
			}
		},
		"leaves": func(m *stream.Mux) { m.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := net.Pipe()
			near, far := stream.New(a, true), stream.New(b, false)
			defer far.Close()
			parent, host := control(t)
			ended := make(chan error, 1)
			go func() { ended <- Host(near, host, nil) }()
			go say(far)
			if name != "floods" { // what is handed on is bounded; here nobody takes it
				_, _, _ = parent.Receive()
			}
			parent.Close()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("the host does not end")
			}
		})
	}
}

func TestDescriptorsThatCannotPass(t *testing.T) {
	r := newRig(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if err := r.parent.Send(wire.Message{Kind: wire.KindConfig}, null); err != nil {
		t.Fatal(err)
	}
	if err := <-r.host; err == nil || !strings.Contains(err.Error(), "descriptors") {
		t.Errorf("ended with %v", err)
	}
	<-r.guest
}

func TestNoDescriptorIsLeft(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	before := count()
	for range 5 {
		t.Run("", func(t *testing.T) {
			r := newRig(t)
			go r.runCommands()
			in, out, _ := r.start(t, "/bin/echo", "x")
			in.Close()
			if b, err := io.ReadAll(out); err != nil || string(b) != "x\n" {
				t.Error(fmt.Sprint(string(b), err))
			}
			r.exited(t)
			r.parent.Close()
			<-r.host
			<-r.guest
			r.agent.Close()
		})
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
