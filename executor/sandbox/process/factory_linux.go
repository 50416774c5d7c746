package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// Factory makes sandboxes. It is safe for concurrent use.
type Factory struct {
	o       Options
	filter  wire.Program // nil: no filter for this architecture
	strict  wire.Program // the same for sandboxes with mounts
	starter *confine.Starter
	stop    chan struct{}

	once    sync.Once // of what follows
	failed  error
	null    *os.File
	program *program
	groups  *cgroup.Tree // nil: none here
	noGroup string       // why not
	stash   *stash
	owners  owners

	launching sync.Mutex
	launches  *launcher // nil: none was needed yet
	noMore    bool      // there will be no other

	probing sync.Mutex
	probed  *sandbox.Availability
	closed  sync.Once
}

// New makes the factory. Nothing is started before the first Probe or Create.
func New(o Options) *Factory {
	f := &Factory{o: o, stop: make(chan struct{})}
	f.starter = confine.NewStarter(f.stop)
	return f
}

// ID is process.
func (*Factory) ID() string { return ID }

// TakesImage is for sandbox.ImageTaker.
func (*Factory) TakesImage(image string) bool { return takesImage(image) }

// Priority orders the factory among others.
func (*Factory) Priority() int { return Priority }

var errClosed = errors.New("the factory was closed")

// Close ends what the factory keeps ready, and with it sandboxes that were not
// closed.
func (f *Factory) Close() error {
	f.closed.Do(func() {
		f.once.Do(func() { f.failed = errClosed })
		if f.stash != nil {
			f.stash.close()
		}
		f.launching.Lock()
		last := f.launches
		f.noMore = true
		f.launching.Unlock()
		if last != nil {
			last.close()
		}
		f.owners.close()
		if f.program != nil {
			f.program.close()
		}
		if f.null != nil {
			_ = f.null.Close()
		}
		close(f.stop)
	})
	return nil
}

// prepare finds out, once, what this machine has.
func (f *Factory) prepare(ctx context.Context) error {
	f.once.Do(func() { f.failed = f.find(context.WithoutCancel(ctx)) })
	return f.failed
}

func (f *Factory) find(ctx context.Context) (err error) {
	if f.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	if f.program, err = findProgram(ctx, f.o.Agent); err != nil {
		return err
	}
	f.noGroup = "the options leave them alone"
	if !f.o.NoControlGroups {
		if f.groups, err = cgroup.Open(); err != nil {
			f.noGroup = err.Error()
		}
	}
	f.filter, f.strict = filter(true), filter(false)
	want := f.o.Stash
	if want == 0 {
		want = DefaultStash
	}
	if f.program.small && f.o.Stash == 0 {
		want = 0
	}
	f.stash = &stash{f: f, want: want}
	f.stash.ctx, f.stash.stop = context.WithCancel(context.Background())
	return nil
}

// filter is the filter of commands in the form of the agent.
func filter(named bool) (p wire.Program) {
	raw, err := confine.CommandFilter(named)
	if err != nil {
		return nil
	}
	for _, in := range raw {
		p = append(p, wire.Instruction{Op: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	return p
}

// probeDeadline bounds one probe.
const probeDeadline = 10 * time.Second

// Probe runs a command in a sandbox. A success is kept; a failure is tried
// again the next time.
func (f *Factory) Probe(ctx context.Context) sandbox.Availability {
	f.probing.Lock()
	defer f.probing.Unlock()
	if f.probed != nil {
		a := *f.probed
		a.Enforcement = a.Enforcement.Clone()
		return a
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, probeDeadline)
	defer cancel()
	enforcement, err := f.try(ctx)
	a := sandbox.Availability{OK: err == nil, Enforcement: enforcement, Took: time.Since(began)}
	if err != nil {
		a.Reason = err.Error() + "; user namespaces must be allowed for this user (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor) and /proc must be whole"
		return a
	}
	f.probed = &a
	out := a
	out.Enforcement = a.Enforcement.Clone()
	return out
}

// try makes a sandbox, runs something, and tells what held.
func (f *Factory) try(ctx context.Context) (sandbox.Enforcement, error) {
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	spec := sandbox.Spec{Limits: sandbox.Minimal(), AllowPartial: true}
	l := &launch{f: f, spec: spec}
	box := host.New(host.Options{ID: newID(), Backend: ID, Spec: spec, Start: l.start})
	defer box.Close()
	const notFound = 127 // a host without a shell can still hold images
	r, err := box.Exec(ctx, sandbox.Shell("exit 7"))
	if err != nil {
		return nil, err
	}
	if r.ExitCode != 7 && r.ExitCode != notFound {
		return nil, fmt.Errorf("a command in it ended with %d: %.200s", r.ExitCode, r.Stderr)
	}
	return f.enforcement(l.holds), nil
}

// enforcement says what holds for sandboxes with the default network.
func (f *Factory) enforcement(holds []string) sandbox.Enforcement {
	e := sandbox.Enforcement{
		sandbox.FSRead:       {Level: sandbox.Full, By: "mount namespace with the programs and libraries of the host or an image, and the mounts"},
		sandbox.FSWrite:      {Level: sandbox.Full, By: "read-only mounts"},
		sandbox.NetDeny:      {Level: sandbox.Full, By: "network namespace"},
		sandbox.NetAllowList: {Level: sandbox.Full, By: "network namespace whose listeners are served from outside"},
		sandbox.Disk:         {Level: sandbox.Full, By: "scratch space in memory of fixed size and number of files; writable mounts are not counted"},
		sandbox.WallClock:    {Level: sandbox.Full, By: "kill of the process namespace"},
		sandbox.Environment:  {Level: sandbox.Full, By: "given, not inherited"},
		sandbox.Kernel:       {Level: sandbox.None, By: "the host's kernel"},
	}
	if slices.Contains(holds, "landlock") {
		e[sandbox.FSWrite] = sandbox.Strength{Level: sandbox.Full, By: "read-only mounts, Landlock"}
	}
	if slices.Contains(holds, "seccomp") {
		e[sandbox.Syscalls] = sandbox.Strength{Level: sandbox.Full, By: "seccomp allow-list, no capabilities, no new privileges"}
	} else {
		e[sandbox.Syscalls] = sandbox.Strength{Level: sandbox.Partial, By: "no capabilities, no new privileges; no filter for this architecture"}
	}
	if f.groups == nil {
		without := "no control group (" + f.noGroup + ")"
		e[sandbox.Memory] = sandbox.Strength{Level: sandbox.Partial, By: without + ": each process by itself (RLIMIT_DATA), and the scratch space"}
		e[sandbox.Processes] = sandbox.Strength{Level: sandbox.Full, By: "RLIMIT_NPROC in a user namespace, kill of all after each command"}
		e[sandbox.CPU] = sandbox.Strength{Level: sandbox.None, By: without}
		return e
	}
	by := fmt.Sprintf("control group v%d", f.groups.Version())
	e[sandbox.Memory] = sandbox.Strength{Level: sandbox.Full, By: by + ", with the scratch space in one bound"}
	e[sandbox.Processes] = sandbox.Strength{Level: sandbox.Full, By: by + ", kill of all after each command"}
	if f.groups.HasCPU() {
		e[sandbox.CPU] = sandbox.Strength{Level: sandbox.Full, By: by}
	} else {
		e[sandbox.CPU] = sandbox.Strength{Level: sandbox.None, By: "no control group for processors"}
	}
	return e
}

// Create checks spec and prepares a sandbox. It starts with the first command.
func (f *Factory) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	a := f.Probe(ctx)
	if !a.OK {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "the sandbox %s does not work here: %s", ID, a.Reason)
	}
	l := &launch{f: f, spec: spec}
	if err := l.image(); err != nil {
		return nil, err
	}
	if err := l.mounts(); err != nil {
		return nil, err
	}
	if err := l.network(); err != nil {
		return nil, err
	}
	have := a.Enforcement
	if _, ok := spec.Net().(sandbox.Inherit); ok {
		open := sandbox.Strength{Level: sandbox.None, By: "the network of the host, as asked"}
		have[sandbox.NetDeny], have[sandbox.NetAllowList] = open, open
	}
	if err := spec.Admit(ID, have); err != nil {
		return nil, err
	}
	return host.New(host.Options{ID: newID(), Backend: ID, Spec: spec, Enforcement: have, Start: l.start}), nil
}

// network compiles an AllowList.
func (l *launch) network() (err error) {
	if policy, ok := l.spec.Net().(sandbox.AllowList); ok {
		l.list, err = allow.New(policy, l.f.o.Network)
	}
	return err
}

// newID names a sandbox.
func newID() string { return ID + "-" + strings.ToLower(rand.Text()[:16]) }

// image finds what the root is made of.
func (l *launch) image() error {
	image := l.spec.Image
	if image == "" || image == "host" {
		return nil
	}
	dir, ok := strings.CutPrefix(image, "dir:")
	if !ok {
		return sandbox.Errorf(sandbox.ErrImage, "the image %q is of no kind that the sandbox %s knows: use host or dir:PATH", image, ID).At("", "/image", 0, 0)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil && filepath.IsAbs(dir) {
		if info, err := os.Stat(resolved); err == nil && info.IsDir() && resolved != "/" {
			l.root = resolved
			return nil
		}
	}
	return sandbox.Errorf(sandbox.ErrImage, "the image %q is not the absolute path of a folder that holds a root", image).At("", "/image", 0, 0)
}
