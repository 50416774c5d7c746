package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// How a Set treats probes, unless SetOptions say otherwise.
const (
	DefaultProbeTimeout = 10 * time.Second
	DefaultKeep         = 10 * time.Minute
	DefaultKeepFailed   = 30 * time.Second
)

// hedge is how long Preferred waits for the probe of a stronger back end
// before it starts that of the next one beside it: quick answers cost one
// probe, and slow ones do not add up.
const hedge = 100 * time.Millisecond

// ImageTaker is what a factory implements that takes other images than ""
// (host) and folders, or not those. Preferred asks it; one without it takes
// all but modules.
type ImageTaker interface {
	// TakesImage tells by the form of image, without looking at the disk,
	// whether it is one that this back end runs.
	TakesImage(image string) bool
}

// IsModule tells whether image names a WebAssembly module: wasm:PATH, or the
// absolute path of a .wasm file.
func IsModule(image string) bool {
	return strings.HasPrefix(image, "wasm:") || strings.HasPrefix(image, "/") && strings.HasSuffix(image, ".wasm")
}

// SetOptions are the choices of a Set; zero fields are the defaults.
type SetOptions struct {
	ProbeTimeout time.Duration // for each probe
	Keep         time.Duration // how long the result of a good probe counts
	KeepFailed   time.Duration // and of a failed one
}

// A Set is the back ends of one program. It is safe for concurrent use.
type Set struct {
	opts    SetOptions
	members []*member // strongest first
	ctx     context.Context
	cancel  context.CancelFunc
	probes  sync.WaitGroup
}

// NewSet makes a Set of factories, whose IDs must differ: of two of one ID the
// first stays.
func NewSet(opts SetOptions, factories ...Factory) *Set {
	opts.ProbeTimeout = cmp.Or(opts.ProbeTimeout, DefaultProbeTimeout)
	opts.Keep = cmp.Or(opts.Keep, DefaultKeep)
	opts.KeepFailed = cmp.Or(opts.KeepFailed, DefaultKeepFailed)
	s := &Set{opts: opts}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, f := range factories {
		if s.find(f.ID()) == nil {
			s.members = append(s.members, &member{Factory: f, set: s})
		}
	}
	slices.SortStableFunc(s.members, func(a, b *member) int { return b.Priority() - a.Priority() })
	return s
}

func (s *Set) find(id string) *member {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.ID() == id })
	if i < 0 {
		return nil
	}
	return s.members[i]
}

// IDs lists the back ends, the strongest first.
func (s *Set) IDs() []string {
	ids := make([]string, len(s.members))
	for i, m := range s.members {
		ids[i] = m.ID()
	}
	return ids
}

// ByID gives the back end of that name, whether or not it works here. Errors:
// ErrUnavailable, with the names that there are.
func (s *Set) ByID(id string) (Factory, error) {
	if m := s.find(id); m != nil {
		return m.Factory, nil
	}
	if len(s.members) == 0 {
		return nil, none()
	}
	return nil, Errorf(ErrUnavailable, "there is no sandbox back end %q; there are %s", id, strings.Join(s.IDs(), ", "))
}

func none() error {
	return Errorf(ErrUnavailable, "there is no sandbox back end in use: all that this program has are left out; look at sandbox.enabled and sandbox.backends of the configuration")
}

// A Probed is a back end and what its last probe said.
type Probed struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
	Availability
}

// Probe probes all back ends at once, or takes what an earlier probe said, and
// lists them, the strongest first. What had no answer when ctx ended says so
// in Reason.
func (s *Set) Probe(ctx context.Context) []Probed {
	for _, m := range s.members {
		m.begin()
	}
	list := make([]Probed, len(s.members))
	for i, m := range s.members {
		list[i] = Probed{m.ID(), m.Priority(), m.wait(ctx, nil)}
	}
	return list
}

// Preferred gives the back end of the highest priority that works here,
// takes the image of spec and enforces what it asks for. Where none enforces
// all and spec.AllowPartial is set, it is the strongest that works. Back ends
// of negative priority are never chosen.
//
// Errors: ErrSpec; ErrUnenforceable, when those that work enforce less;
// ErrUnavailable otherwise, with the reason of each back end; that of ctx.
func (s *Set) Preferred(ctx context.Context, spec Spec) (Factory, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	var fit []*member
	why := make([]string, 0, len(s.members))
	for _, m := range s.members {
		switch {
		case m.Priority() < 0:
			why = append(why, m.ID()+": only used by its name")
		case !takes(m.Factory, spec.Image):
			why = append(why, m.ID()+": does not run images like "+imageName(spec.Image))
		case !takesMounts(m.Factory, spec.Mounts):
			why = append(why, m.ID()+": does not take such mounts")
		default:
			fit = append(fit, m)
		}
	}
	var partial Factory
	var short *Unenforceable
	for i, m := range fit {
		a := m.wait(ctx, fit[i+1:])
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !a.OK {
			why = append(why, m.ID()+": "+cmp.Or(a.Reason, "does not work here, and does not say why"))
			continue
		}
		less := spec.Shortfall(a.Enforcement)
		if len(less) == 0 {
			return m.Factory, nil
		}
		u := &Unenforceable{Backend: m.ID(), Dimensions: less}
		why = append(why, u.Error())
		if partial == nil {
			partial, short = m.Factory, u
		}
	}
	reasons := strings.Join(why, "; ")
	switch {
	case partial != nil && spec.AllowPartial:
		return partial, nil
	case partial != nil:
		return nil, Errorf(ErrUnenforceable, "no sandbox enforces here what is asked (%s); ask for less, or accept it explicitly (AllowPartial)", reasons).Because(short)
	case len(s.members) == 0:
		return nil, none()
	}
	if runtime.GOOS != "linux" {
		reasons += "; sandboxes need Linux: run this there, or in a container or virtual machine with it"
	}
	return nil, Errorf(ErrUnavailable, "no sandbox works here (%s)", reasons)
}

// Create makes a sandbox in the back end named id, or for "" in the preferred
// one. Errors: those of ByID, Preferred and Factory.Create.
func (s *Set) Create(ctx context.Context, id string, spec Spec) (Sandbox, error) {
	f, err := s.choose(ctx, id, spec)
	if err != nil {
		return nil, err
	}
	sb, err := f.Create(ctx, spec)
	if err != nil {
		return nil, typed(err)
	}
	return sb, nil
}

func (s *Set) choose(ctx context.Context, id string, spec Spec) (Factory, error) {
	if id == "" {
		return s.Preferred(ctx, spec)
	}
	return s.ByID(id)
}

// typed leaves errors of this module and of contexts as they are, and makes an
// ErrFailed of others.
func typed(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return Errorf(ErrFailed, "the sandbox failed; see the log").Because(err)
}

func takes(f Factory, image string) bool {
	if t, ok := f.(ImageTaker); ok {
		return t.TakesImage(image)
	}
	return !IsModule(image)
}

// MountTaker is what a factory implements that does not take all mounts with
// the strength that it has otherwise. A set passes it over where it does not.
type MountTaker interface {
	// TakesMounts says so at once, without creating anything.
	TakesMounts(mounts []Mount) bool
}

func takesMounts(f Factory, mounts []Mount) bool {
	t, ok := f.(MountTaker)
	return !ok || t.TakesMounts(mounts)
}

// Close ends probes that run and closes the factories that are an io.Closer.
// Sandboxes that were made stay their owners' to close.
func (s *Set) Close() error {
	s.cancel()
	s.probes.Wait()
	var errs []error
	for _, m := range s.members {
		if c, ok := m.Factory.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
