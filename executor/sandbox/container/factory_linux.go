package container

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/fault"
)

// A Factory makes containers with one runtime or engine.
type Factory struct {
	kind   kind
	opts   Options
	folder *folder
	images *image.Store

	prepare              sync.Once
	failure              error // why nothing can be made, after prepare
	program              string
	agent                string
	idBase               int
	tree                 *cgroup.Tree // nil where no limits of groups can be set
	filter               *specs.LinuxSeccomp
	docker               dockerInfo
	shown                bool // commands see the descriptors of the agent; after a probe
	openFiles, processes uint64

	base  *process.Factory // for what the agent of a container is told
	probe sync.Mutex
	known *sandbox.Availability
}

// NewRunc makes the back end "container", of runc.
func NewRunc(o Options) *Factory { return newFactory(runc, o) }

// NewPodman makes the back end "podman".
func NewPodman(o Options) *Factory { return newFactory(podman, o) }

// NewGVisor makes the back end "gvisor", of runsc.
func NewGVisor(o Options) *Factory { return newFactory(gvisor, o) }

// NewDocker makes the back end "docker".
func NewDocker(o Options) *Factory { return newFactory(docker, o) }

func newFactory(k kind, o Options) *Factory {
	f := &Factory{kind: k, opts: o, images: o.Images, folder: &folder{base: o.Dir}, base: process.New(process.Options{Agent: o.Agent, Stash: -1, Network: o.Network})}
	if f.folder.base == "" {
		f.folder.base = defaultBase()
	}
	if f.images == nil {
		f.images = &image.Store{}
	}
	return f
}

// ID is container, podman, gvisor or docker.
func (f *Factory) ID() string { return f.kind.id }

// Priority is explained in the document of the package.
func (f *Factory) Priority() int { return f.kind.priority }

// ready finds everything that the first container needs.
func (f *Factory) ready() error {
	f.prepare.Do(func() { f.failure = f.find() })
	return f.failure
}

func (f *Factory) find() error {
	f.openFiles, f.processes = hardLimit(unix.RLIMIT_NOFILE), hardLimit(unix.RLIMIT_NPROC)
	name := f.opts.Program
	if name == "" {
		name = f.kind.program
	}
	var err error
	if f.program, err = exec.LookPath(name); err != nil {
		return unavailable("%s is not installed: %v", f.kind.program, err)
	}
	dir, err := f.folder.open(f.program)
	if err != nil {
		return unavailable("there is no place for the files of containers: %v", err)
	}
	if f.agent, err = copyAgent(context.Background(), f.opts.Agent, dir); err != nil {
		return unavailable("%v", err)
	}
	policy, err := confine.CommandPolicy(true)
	if err != nil {
		return unavailable("no filter of system calls: %v", err)
	}
	f.filter = outerFilter(policy)
	f.idBase = -1
	if os.Geteuid() == 0 {
		f.idBase = agent.HostID
		// A runtime makes groups of all controllers, which no other user may.
		f.tree, _ = cgroup.Open()
	}
	switch {
	case f.kind == docker:
		f.docker, err = askDocker(f.program)
	case f.kind == gvisor && f.idBase < 0:
		err = unavailable("runsc needs root to have a control group and to show files of the host")
	}
	return err
}

// cgroups says whether limits of control groups can be set.
func (f *Factory) cgroups() bool { return f.tree != nil || f.kind == docker }

// Create makes a container of spec; it is started by its first command.
func (f *Factory) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if f.kind.kernel {
		// What its kernel keeps from commands depends on its version.
		if a := f.Probe(ctx); !a.OK {
			return nil, unavailable("%s does not work here: %s", f.ID(), a.Reason)
		}
	}
	return f.create(ctx, spec)
}

func (f *Factory) create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	if err := spec.Check(); err != nil {
		return nil, err
	}
	m := &making{f: f, spec: spec}
	ref, err := image.Parse(spec.Image)
	if err != nil {
		return nil, err
	}
	switch {
	case ref.Kind == image.Engine && f.kind.engine:
		m.name, err = ref.Name, f.has(ctx, ref.Name)
	case ref.Kind != image.Host && f.kind == podman:
		// It would put files of its own into the folder.
		err = sandbox.Errorf(sandbox.ErrImage, "%s takes host and the names of its own images; use the back end container for %s, or load it into %s", f.ID(), spec.Image, f.ID()).At("", "/image", 0, 0)
	default:
		m.root, err = f.images.Resolve(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	if m.setup, err = f.base.Setup(ctx, spec); err != nil {
		return nil, err
	}
	if f.kind.stream {
		if err := m.placeable(); err != nil {
			return nil, err
		}
	}
	have := f.enforcement(spec.Net())
	if f.kind.kernel && m.asRoot() {
		have[sandbox.FSWrite] = sandbox.Strength{Level: sandbox.Partial, By: "read-only mounts of gVisor's kernel, whose devices belong to commands that are root to write to what belongs to root"}
	}
	if err := spec.Admit(f.ID(), have); err != nil {
		return nil, err
	}
	return host.New(host.Options{ID: f.ID() + "-" + strings.ToLower(rand.Text()[:16]), Backend: f.ID(), Spec: spec, Enforcement: have, Start: m.start}), nil
}

// probePatience bounds a probe.
const (
	probePatience = 30 * time.Second
)

// Probe runs a command in a container, and keeps the answer.
func (f *Factory) Probe(ctx context.Context) (a sandbox.Availability) {
	f.probe.Lock()
	defer f.probe.Unlock()
	if f.known != nil {
		return *f.known
	}
	began := time.Now()
	defer func() {
		if recover() != nil {
			a = sandbox.Availability{Reason: "the probe failed in an unexpected way"}
		}
		a.Took = time.Since(began)
		if ctx.Err() == nil {
			f.known = &a
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if err := f.try(ctx); err != nil {
		return sandbox.Availability{Reason: reason(err)}
	}
	return sandbox.Availability{OK: true, Enforcement: f.enforcement(sandbox.DenyAll{})}
}

func (f *Factory) try(ctx context.Context) (err error) {
	if err := f.ready(); err != nil {
		return err
	}
	limits := sandbox.Minimal()
	limits.Timeout = probePatience
	s, err := f.create(ctx, sandbox.Spec{Limits: limits, AllowPartial: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	const word, seen = "inside", "seen"
	r, err := s.Exec(ctx, sandbox.Command{Argv: []string{"/bin/sh", "-c", "if [ -L /proc/1/fd/0 ]; then echo " + seen + "; else echo " + word + "; fi"}})
	if err == nil && f.kind.kernel {
		f.shown = strings.TrimSpace(string(r.Stdout)) == seen
		if f.shown {
			return nil
		}
	}
	switch {
	case err != nil:
		return err
	case r.ExitCode == 0 && strings.TrimSpace(string(r.Stdout)) == seen:
		return unavailable("commands in a container could look into process 1 of it, which is our agent; with root they cannot")
	case r.ExitCode != 0 || strings.TrimSpace(string(r.Stdout)) != word:
		return unavailable("a command in a container ended with %d: %.200q %.200q", r.ExitCode, r.Stdout, r.Stderr)
	}
	return nil
}

// reason is the message alone: what kind of error it is says the table that it
// goes into.
func reason(err error) string {
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		text = f.Message
	}
	text = strings.Join(strings.Fields(text), " ")
	const longest = 500
	return text[:min(len(text), longest)]
}

func unavailable(format string, args ...any) error {
	return sandbox.Errorf(sandbox.ErrUnavailable, format, args...)
}

// has asks the engine for an image that it has already.
func (f *Factory) has(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if err := run(ctx, f.program, "image", "inspect", "--format", "{{.Id}}", name); err != nil {
		return sandbox.Errorf(sandbox.ErrImage, "%s has no image %s; nothing is fetched on its own, so load or pull it first (%v)", f.kind.program, name, err).At("", "/image", 0, 0)
	}
	return nil
}

// Close removes the folder of bundles. Sandboxes are closed before.
func (f *Factory) Close() error {
	_ = f.base.Close()
	if f.folder.dir == "" {
		return nil
	}
	return wipe(f.folder.dir)
}

// hardLimit is what this process may allow others.
func hardLimit(what int) uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(what, &l); err != nil {
		return 1024
	}
	const plenty = 4096
	return min(l.Max, plenty)
}
