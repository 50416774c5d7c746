package container

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/relay"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// What follows is for runtimes to whose containers no descriptor can be
// passed: gVisor and docker.

// streamRights are what the agent needs there: to become the user of commands,
// to end them, and to remove what they left. It mounts nothing.
var streamRights = []string{"CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP"}

// carry starts the runtime and carries the conversation of far over its
// standard streams, until either ends. With wait it begins when r.gate is
// closed: what it starts is then in the group that it was put into.
func (r *running) carry(far *os.File, wait bool) error {
	defer func() {
		if far != nil {
			_ = far.Close()
		}
	}()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_ = ourOut.Close()
		return err
	}
	defer theirOut.Close()
	both := streams{ourIn, ourOut}
	if wait {
		theirGate, ourGate, err := os.Pipe()
		if err != nil {
			return errors.Join(err, both.Close())
		}
		defer theirGate.Close()
		r.gate = ourGate
		r.cmd = exec.Command("/bin/sh", append([]string{"-c", `read x <&3; exec "$@" 3<&-`, "sh"}, r.cmd.Args...)...)
		r.cmd.Args[4] = r.runtime
		r.cmd.ExtraFiles = []*os.File{theirGate}
	}
	r.cmd.Stdin, r.cmd.Stdout = theirIn, theirOut
	if err := r.begin(); err != nil {
		if wait {
			_ = r.gate.Close()
		}
		return errors.Join(err, both.Close())
	}
	carried := wire.NewConn(far)
	far = nil
	go func() { _ = relay.Host(stream.New(both, true), carried, nil) }()
	return nil
}

// streams are the two pipes, as one stream.
type streams struct{ in, out *os.File }

func (s streams) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s streams) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s streams) Close() error                { return errors.Join(s.out.Close(), s.in.Close()) }

var _ io.ReadWriteCloser = streams{}

// streamConfig is what the agent is told where the runtime has made all mounts
// and the network.
func (m *making) streamConfig() wire.Config {
	cfg := m.setup.Told()
	cfg.Root, cfg.RootPath, cfg.Folders, cfg.RootTree = wire.RootReady, "", nil, false
	cfg.ScratchBytes, cfg.ScratchInodes = -1, 0
	cfg.Net, cfg.Ports, cfg.Prefixes = wire.NetInherit, nil, nil
	cfg.MaxMemory, cfg.MaxProcesses = 0, 0
	cfg.UID, cfg.GID = m.user()
	if m.f.kind.kernel {
		// Its numbers of files are its own, so that the parent compares them.
		cfg.Mounts, cfg.Landlock = nil, false
		cfg.Filter = withoutPriorities(cfg.Filter)
		cfg.MaxProcesses = uint64(m.spec.Limits.MaxProcesses)
	}
	return cfg
}

// user is who commands are on the host. Ids are not mapped, so that it is the
// owner of what they may write to, and else nobody's.
func (m *making) user() (uid, gid int) {
	if euid := os.Geteuid(); euid != 0 {
		return euid, os.Getegid()
	}
	for _, mount := range m.spec.Mounts {
		if info, err := os.Stat(mount.Source); err == nil && mount.Writable {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				return int(st.Uid), int(st.Gid)
			}
		}
	}
	if m.f.docker.mapped {
		return agent.CommandID, agent.CommandID
	}
	return agent.CommandHostID, agent.CommandHostID
}

// TakesMounts is for sandbox.MountTaker.
func (f *Factory) TakesMounts(mounts []sandbox.Mount) bool {
	if !f.kind.stream {
		return true
	}
	for _, mount := range mounts {
		if roomOf(mount.Target) != "" {
			return false
		}
	}
	m := making{f: f, spec: sandbox.Spec{Mounts: mounts}}
	return !f.kind.kernel || !m.asRoot()
}

// roomOf gives the scratch place that a target is in; "" is none.
func roomOf(target string) string {
	for _, room := range rooms {
		if target == room.path || strings.HasPrefix(target, room.path+"/") {
			return room.path
		}
	}
	return ""
}

// asRoot says that commands are root in the sandbox, without any right: what
// they may write to belongs to root.
func (m *making) asRoot() bool {
	uid, _ := m.user()
	return uid == 0
}

// placeable refuses mounts that the runtime could not put in place so that a
// reset leaves them alone.
func (m *making) placeable() error {
	for i, mount := range m.spec.Mounts {
		at := fmt.Sprintf("/mounts/%d/target", i)
		if room := roomOf(mount.Target); room != "" {
			return sandbox.Errorf(sandbox.ErrSpec, "%s takes no mount in the scratch space %s; choose a place outside of it, or another back end", m.f.ID(), room).At("", at, 0, 0)
		}
		if mount.Writable && m.f.docker.mapped {
			return sandbox.Errorf(sandbox.ErrSpec, "this engine gives containers other user ids, to which no folder can be writable; mount it read-only, or use another back end").At("", at, 0, 0)
		}
	}
	return nil
}

// rooms are the scratch places, file systems apart. Their sixteenths of the
// disk of a Spec make the whole.
var rooms = []struct {
	path  string
	share int64
}{{"/scratch", 12}, {"/tmp", 3}, {"/dev/shm", 1}}

// room gives the options of the file system in memory. Its folder is the
// agent's and has the sticky bit, so that commands can change nothing of it
// that would outlive a reset.
func (p plan) room(share int64) []string {
	size := int64(p.limits.DiskMB) << 20 / 16 * share
	options := []string{"nosuid", "nodev", "mode=1777"}
	if size == 0 {
		size, options = 4096, append(options, "ro")
	}
	options = append(options, fmt.Sprintf("size=%d", size))
	if !p.kind.kernel {
		options = append(options, fmt.Sprintf("nr_inodes=%d", max(size/4096, 64)))
	}
	return options
}

// streamPlan fills the bundle.
func (m *making) streamPlan(p plan, bundle string) (plan, error) {
	p.asRoot, p.nothing = m.asRoot(), filepath.Join(bundle, "nothing")
	if err := os.WriteFile(p.nothing, nil, 0o000); err != nil {
		return p, failed("the files of the container: %v", err)
	}
	if m.name != "" {
		if err := m.engineFiles(&p, bundle); err != nil {
			return p, failed("the files of the container: %v", err)
		}
	} else {
		var err error
		p.rootfs, p.binds, err = furnish(bundle, m.root, m.spec.Mounts)
		if err == nil && m.root.Path == "" {
			err = leadTo(filepath.Join(p.rootfs, "var/tmp"), "/tmp")
		}
		if err == nil && p.kind == docker {
			err = m.shown(&p)
		}
		if err != nil {
			if !errors.Is(err, sandbox.ErrSpec) && !errors.Is(err, sandbox.ErrImage) {
				err = failed("the files of the container: %v", err)
			}
			return p, err
		}
	}
	var own []bind
	for _, told := range m.setup.Told().Mounts {
		own = append(own, bind{told.Source, told.Target, told.Writable})
	}
	// Parents before what is in them.
	slices.SortStableFunc(own, func(x, y bind) int { return strings.Compare(x.target, y.target) })
	p.binds = append(p.binds, own...)
	return p, nil
}

// leadTo puts a link in the place of an empty folder.
func leadTo(at, target string) error {
	if err := os.Remove(at); err != nil {
		return err
	}
	return os.Symlink(target, at)
}
