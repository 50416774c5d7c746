package process

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// launch is how one sandbox comes to life, each time that it does.
type launch struct {
	f      *Factory
	spec   sandbox.Spec
	root   string // of an image that is a folder
	pinned []wire.Mount
	list   *allow.List // of an AllowList
	holds  []string    // of the last start
}

// startDeadline bounds the start of an agent.
const startDeadline = 10 * time.Second

// Bounds that have no field in a Spec.
const (
	maxOpenFiles    = 1024
	bytesPerInode   = 4096 // of the scratch space
	fewestInodes    = 256
	agentAllowance  = 16 << 20 // memory of the agent itself
	mostScratchFile = 1 << 20
)

// start makes an agent ready for commands.
func (l *launch) start(ctx context.Context) (inst *host.Instance, err error) {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	_, shared := l.spec.Net().(sandbox.Inherit)
	if !shared {
		if s := l.f.stash.take(); s != nil {
			if inst, err := l.prepare(ctx, s); err == nil {
				return inst, nil
			}
			// It may have been ended while it waited; a new one tells.
		}
	}
	s, err := l.f.spawn(ctx, !shared)
	if err != nil {
		return nil, unavailable(ctx, fmt.Errorf("the agent does not start: %w", err))
	}
	return l.prepare(ctx, s)
}

// prepare makes a sandbox of an agent, or ends it.
func (l *launch) prepare(ctx context.Context, s *spawned) (inst *host.Instance, err error) {
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	inst = &host.Instance{Conn: s.conn, Kill: s.kill, Gone: s.gone}
	// The agent works meanwhile; where it has to be moved into its group, the
	// kernel may take longer for that than all the rest takes. Nothing but the
	// agent runs before both are done.
	group := s.group
	ready, files, err := l.configure(ctx, s, func() (err error) {
		switch {
		case l.f.groups == nil:
			return nil
		case group != nil:
			err = group.Limit(l.limits())
		default:
			group, err = l.confine(s)
		}
		if err != nil {
			return unavailable(ctx, fmt.Errorf("its control group: %w", err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if group != nil {
		inst.Meter = &meter{group: group}
	}
	if l.list != nil {
		if inst.Network, err = l.list.ServeFiles(files); err != nil {
			return nil, unavailable(ctx, err)
		}
		// Also an agent that ends by itself takes its network with it.
		if !s.atEnd(inst.Network.Close) {
			inst.Network.Close()
			return nil, unavailable(ctx, errors.New("the agent ended"))
		}
	}
	if group != nil && l.spec.Limits.MaxProcesses > 0 {
		// Its own threads are not the command's.
		own, err := group.Processes()
		if err == nil {
			err = group.SetProcesses(own + int64(l.spec.Limits.MaxProcesses))
		}
		if err != nil {
			return nil, unavailable(ctx, fmt.Errorf("its control group: %w", err))
		}
	}
	l.holds = ready.Holds
	return inst, nil
}

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return sandbox.Errorf(sandbox.ErrUnavailable, "a sandbox could not be started: %v", err).Because(err)
}

// limits are those of the control group.
func (l *launch) limits() cgroup.Limits {
	limits := cgroup.Limits{Memory: int64(l.spec.Limits.MemoryMB+l.spec.Limits.DiskMB)<<20 + agentAllowance}
	if l.f.groups.HasCPU() {
		limits.CPU = l.spec.Limits.CPUShares
	}
	return limits
}

// confine moves the agent into a group, which ends with it.
func (l *launch) confine(s *spawned) (*cgroup.Group, error) {
	group, err := l.f.groups.New(l.limits())
	if err != nil {
		return nil, err
	}
	if !s.atEnd(func() { _ = group.Close() }) {
		return nil, errors.Join(errors.New("the agent ended"), group.Close())
	}
	return group, group.Add(s.pid)
}

// configure has the agent make the sandbox, and runs meanwhile beside it. The
// files are the listeners of an AllowList.
func (l *launch) configure(ctx context.Context, s *spawned, meanwhile func() error) (*wire.Ready, []*os.File, error) {
	cfg := l.config()
	trees, err := l.trees(ctx, cfg.Mounts)
	defer func() {
		for _, t := range trees {
			_ = t.Close()
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	if at, ok := ctx.Deadline(); ok {
		_ = s.conn.SetDeadline(at)
	}
	stop := context.AfterFunc(ctx, s.kill)
	defer stop()
	if err := s.conn.Send(wire.Message{Kind: wire.KindConfig, Config: &cfg}, trees...); err != nil {
		return nil, nil, unavailable(ctx, err)
	}
	failed := meanwhile()
	m, files, err := s.conn.Receive()
	_ = s.conn.SetDeadline(time.Time{})
	switch {
	case err != nil:
		err = fmt.Errorf("the agent ended: %w", err)
	case m.Kind != wire.KindReady || m.Ready == nil || m.Ready.Version != wire.Version:
		err = errors.New("the agent is of another build: put the two from one build together")
	case m.Ready.Error != "":
		err = errors.New(m.Ready.Error)
	case failed != nil:
	case l.list != nil:
		return m.Ready, files, nil
	}
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return nil, nil, unavailable(ctx, err)
	}
	if failed != nil {
		return nil, nil, failed
	}
	return m.Ready, nil, nil
}

// config is what the agent is told.
func (l *launch) config() wire.Config {
	limits := l.spec.Limits
	disk := int64(limits.DiskMB) << 20
	cfg := wire.Config{
		Version: wire.Version, Hostname: "sandbox",
		Root: wire.RootHost, Folders: Folders, Mounts: append([]wire.Mount(nil), l.pinned...),
		ScratchBytes: disk, ScratchInodes: min(max(disk/bytesPerInode, fewestInodes), mostScratchFile),
		Net: wire.NetNone, Filter: l.f.filter, Landlock: true,
		MaxOpenFiles: maxOpenFiles, MaxFileSize: 0,
		Env: Environment(l.spec), Dir: l.spec.WorkingDir, Warm: l.spec.Warm,
	}
	if cfg.Dir == "" {
		cfg.Dir = Home
	}
	if len(l.pinned) > 0 {
		cfg.Filter = l.f.strict // a folder of the host may have sockets of the host
	}
	if l.root != "" {
		cfg.Root, cfg.RootPath, cfg.Folders = wire.RootDir, l.root, nil
		cfg.RootTree = os.Geteuid() == 0
	}
	if _, ok := l.spec.Net().(sandbox.Inherit); ok {
		cfg.Net = wire.NetInherit
	}
	if l.list != nil {
		cfg.Net, cfg.Ports, cfg.Prefixes = wire.NetAllow, l.list.Ports(), l.list.Prefixes()
	}
	if os.Geteuid() == 0 {
		cfg.UID, cfg.GID = agent.CommandID, agent.CommandID
	}
	if l.f.groups == nil {
		cfg.MaxMemory = uint64(limits.MemoryMB) << 20
		cfg.MaxProcesses = uint64(limits.MaxProcesses)
	}
	return cfg
}

// meter reads the control group around a command.
type meter struct {
	group  *cgroup.Group
	before cgroup.Usage
}

// Begin takes note of the counters.
func (m *meter) Begin() {
	m.group.ResetPeak()
	m.before = m.group.Usage()
}

// End tells what was used, and which bound was hit.
func (m *meter) End(r *sandbox.Result) {
	now := m.group.Usage()
	if now.CPU >= 0 && m.before.CPU >= 0 {
		r.Usage.CPU = now.CPU - m.before.CPU
	}
	r.Usage.PeakMemory = max(now.PeakMemory, math.MinInt64)
	switch {
	case now.OutOfMemory > m.before.OutOfMemory:
		r.LimitHit = sandbox.Memory
	case now.Refused > m.before.Refused:
		r.LimitHit = sandbox.Processes
	}
}
