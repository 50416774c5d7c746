package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// startPatience is how long a runtime may take until the agent is ready.
const startPatience = 30 * time.Second

// making is one container on its way.
type making struct {
	f    *Factory
	spec sandbox.Spec
	root image.Root
	name string // of an image that an engine has

	setup *process.Setup
}

// start makes an instance: a bundle, a container of it, and an agent that is
// ready.
func (m *making) start(ctx context.Context) (*host.Instance, error) {
	dir, err := m.f.folder.open(m.f.program)
	if err != nil {
		return nil, failed("there is no place for the files of a container: %v", err)
	}
	id, bundle, err := m.f.folder.bundle()
	if err != nil {
		return nil, failed("there is no place for the files of a container: %v", err)
	}
	inst, err := m.launch(ctx, dir, id, bundle)
	if err != nil {
		_ = os.RemoveAll(bundle)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return inst, nil
}

func (m *making) launch(ctx context.Context, dir, id, bundle string) (*host.Instance, error) {
	p, err := m.plan(id, bundle)
	if err != nil {
		return nil, err
	}
	cfg, trees, err := m.config(ctx)
	defer closeAll(trees)
	if err != nil {
		return nil, err
	}
	conn, far, err := wire.Pair()
	if err != nil {
		return nil, failed("no socket for an agent: %v", err)
	}
	group, err := m.group()
	if err != nil {
		_, _ = conn.Close(), far.Close()
		return nil, failed("the control group of the container: %v", err)
	}
	r, err := m.f.launch(p, m.name, dir, far)
	if err != nil {
		_ = conn.Close()
		if group != nil {
			_ = group.Close()
		}
		return nil, failed("the container could not be started: %v", err)
	}
	// From here on the end of the conversation ends the container.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		<-r.gone
		_ = os.RemoveAll(bundle)
		if group != nil {
			_ = group.Close()
		}
	}()
	abandon := func(err error) error {
		_ = conn.Close()
		select {
		case <-gone:
		case <-time.After(endPatience):
			r.remove()
		}
		return err
	}
	if group != nil {
		if err := group.Add(r.cmd.Process.Pid); err != nil {
			_, _ = r.cmd.Process.Kill(), r.gate.Close()
			return nil, abandon(failed("the control group of the container: %v", err))
		}
	}
	if r.gate != nil {
		_ = r.gate.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	if err := conn.Send(wire.Message{Kind: wire.KindConfig, Config: &cfg}, trees...); err != nil {
		return nil, abandon(failed("the container did not start: %v", r.why()))
	}
	answer, passed, err := conn.Receive()
	switch {
	case err != nil || answer.Kind != wire.KindReady || answer.Ready == nil:
		closeAll(passed)
		// What the runtime has to say is known when it has ended.
		select {
		case <-r.gone:
		case <-time.After(time.Second):
		}
		return nil, abandon(failed("the container did not start: %v", r.why()))
	case answer.Ready.Error != "":
		closeAll(passed)
		return nil, abandon(failed("the container could not be prepared: %.300s", answer.Ready.Error))
	case len(answer.Ready.Missing) > 0 && !m.spec.AllowPartial:
		closeAll(passed)
		return nil, abandon(failed("the kernel lacks %s, which the probe did not see", strings.Join(answer.Ready.Missing, ", ")))
	}
	_ = conn.SetDeadline(time.Time{})
	inst := &host.Instance{Conn: conn, Gone: gone}
	if inst.Network, err = m.network(passed); err != nil {
		return nil, abandon(err)
	}
	if m.f.kind == docker {
		inst.Kill, inst.Meter = r.killDocker, m.measureDocker(r)
		return inst, nil
	}
	first, err := r.first(ctx)
	if err == nil && m.f.kind.kernel {
		inst.Meter, err = m.verify(r, group, first.Pid)
	}
	if err != nil {
		return nil, abandon(failed("the first process of the container is not known: %v", err))
	}
	inst.Kill = func() { _ = first.Signal(os.Kill) }
	if m.f.cgroups() && !m.f.kind.kernel {
		inst.Meter, err = m.measure(first.Pid)
		if err != nil {
			return nil, abandon(failed("the control group of the container: %v", err))
		}
	}
	return inst, nil
}

// measure takes hold of the group that the runtime made, and lets commands
// have the processes that they may: the threads of the agent are not theirs.
func (m *making) measure(pid int) (host.Meter, error) {
	group, err := cgroup.Of(pid)
	if err != nil {
		return nil, err
	}
	if limit := m.spec.Limits.MaxProcesses; limit > 0 {
		own, err := group.Processes()
		if err == nil {
			err = group.SetProcesses(own + int64(limit))
		}
		if err != nil {
			return nil, err
		}
	}
	return process.NewMeter(group), nil
}

// plan fills the bundle.
func (m *making) plan(id, bundle string) (plan, error) {
	p := plan{
		id: id, kind: m.f.kind, agent: m.f.agent, network: m.spec.Net(), limits: m.spec.Limits,
		idBase: m.f.idBase, uid: os.Geteuid(), gid: os.Getegid(),
		cgroups: m.f.cgroups(), cgroup: "toolwarrant/" + id, seccomp: m.f.filter,
		openFiles: m.f.openFiles, processes: m.f.processes,
	}
	if m.f.kind.stream {
		return m.streamPlan(p, bundle)
	}
	if m.name != "" {
		resolv := filepath.Join(bundle, "etc", "resolv.conf")
		p.binds = []bind{{source: resolv, target: "/etc/resolv.conf"}}
		err := write(resolv, ownFiles["resolv.conf"])
		if err == nil && p.idBase < 0 {
			var more []bind
			more, err = stage(filepath.Join(bundle, "places"), m.spec.Mounts)
			p.binds = append(p.binds, more...)
		}
		return p, err
	}
	var err error
	p.rootfs, p.binds, err = furnish(bundle, m.root, m.spec.Mounts)
	switch {
	case err != nil:
	case p.idBase >= 0:
		err = p.own()
	default:
		var more []bind
		more, err = stage(p.rootfs, m.spec.Mounts)
		p.binds = append(p.binds, more...)
	}
	if err != nil && !errors.Is(err, sandbox.ErrSpec) {
		err = failed("the files of the container: %v", err)
	}
	return p, err
}

// own gives the root folder, whose entries are all ours, to the first user of
// the container: an engine puts files of its own into it.
func (p plan) own() error {
	return filepath.WalkDir(p.rootfs, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, p.idBase, p.idBase)
	})
}

// first takes hold of process 1 of the container, which lives. The runtime
// writes its number after it has started it.
func (r *running) first(ctx context.Context) (*os.Process, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		text, err := os.ReadFile(r.pidFile())
		if err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || pid <= 1 {
				return nil, fmt.Errorf("%q is no number of a process", text)
			}
			return os.FindProcess(pid)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.gone:
			return nil, r.why()
		case <-time.After(wait):
		}
	}
}

func (r *running) pidFile() string { return filepath.Join(r.dir, r.id, "pid") }

// remove ends a container that does not end on its own.
func (r *running) remove() {
	if r.kind.engine {
		ctx, cancel := context.WithTimeout(context.Background(), endPatience)
		defer cancel()
		args := []string{"rm", "--force", r.id}
		if r.kind == podman {
			args = slices.Insert(args, 2, "--time=0")
		}
		_ = run(ctx, r.runtime, args...)
		return
	}
	_ = remove(r.runtime, r.dir, r.id)
}

func failed(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrFailed, format, args...)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
