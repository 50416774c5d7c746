package sandbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// everything is an Enforcement without a gap.
func everything() sandbox.Enforcement {
	e := sandbox.Enforcement{}
	for _, d := range sandbox.Dimensions() {
		e[d] = sandbox.Strength{Level: sandbox.Full, By: "fake"}
	}
	return e
}

func without(ds ...sandbox.Dimension) sandbox.Enforcement {
	e := everything()
	for _, d := range ds {
		e[d] = sandbox.Strength{Level: sandbox.Partial, By: "a gap"}
	}
	return e
}

func asked() sandbox.Spec { return sandbox.Spec{Limits: sandbox.Minimal()} }

// chosen is a back end that is only there to be chosen.
type chosen struct {
	id        string
	priority  int
	probe     func(ctx context.Context) sandbox.Availability
	module    bool
	unmounted bool // takes no mounts
	probed    atomic.Int32
	closed    atomic.Int32
}

func (c *chosen) ID() string    { return c.id }
func (c *chosen) Priority() int { return c.priority }
func (c *chosen) Probe(ctx context.Context) sandbox.Availability {
	c.probed.Add(1)
	return c.probe(ctx)
}
func (c *chosen) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, errors.New("made by " + c.id)
}
func (c *chosen) TakesImage(image string) bool { return sandbox.IsModule(image) == c.module }
func (c *chosen) TakesMounts(mounts []sandbox.Mount) bool {
	return !c.unmounted || len(mounts) == 0
}
func (c *chosen) Close() error { c.closed.Add(1); return nil }

func works(id string, priority int) *chosen {
	return &chosen{id: id, priority: priority, probe: func(context.Context) sandbox.Availability {
		return sandbox.Availability{OK: true, Enforcement: everything()}
	}}
}

func (c *chosen) enforcing(e sandbox.Enforcement) *chosen {
	c.probe = func(context.Context) sandbox.Availability { return sandbox.Availability{OK: true, Enforcement: e} }
	return c
}

func (c *chosen) failing(why string) *chosen {
	c.probe = func(context.Context) sandbox.Availability { return sandbox.Availability{Reason: why} }
	return c
}

func (c *chosen) withoutMounts() *chosen { c.unmounted = true; return c }

func (c *chosen) modules() *chosen { c.module = true; return c }

func TestPreferred(t *testing.T) {
	partly := asked()
	partly.AllowPartial = true
	module := asked()
	module.Image = "/opt/x.wasm"
	mounted := asked()
	mounted.Mounts = []sandbox.Mount{{Source: "/", Target: "/x"}}
	kernel := asked()
	kernel.Require = sandbox.Enforcement{sandbox.Kernel: {Level: sandbox.Full}}
	for _, c := range []struct {
		name  string
		have  []*chosen
		spec  sandbox.Spec
		want  string
		err   error
		words []string
	}{
		{"the strongest", []*chosen{works("a", 1), works("b", 3), works("c", 2)}, asked(), "b", nil, nil},
		{"the strongest that works", []*chosen{works("a", 1), works("b", 3).failing("no kvm")}, asked(), "a", nil, nil},
		{"the strongest that enforces", []*chosen{works("a", 1), works("b", 3).enforcing(without(sandbox.Disk))}, asked(), "a", nil, nil},
		{"what is required counts", []*chosen{works("a", 1), works("b", 3).enforcing(without(sandbox.Kernel))}, kernel, "a", nil, nil},
		{"and what is not does not", []*chosen{works("a", 1), works("b", 3).enforcing(without(sandbox.Kernel))}, asked(), "b", nil, nil},
		{"a command does not go to wasm", []*chosen{works("a", 1), works("w", 3).modules()}, asked(), "a", nil, nil},
		{"a module goes to wasm only", []*chosen{works("a", 9), works("w", 3).modules()}, module, "w", nil, nil},
		{"a module without wasm", []*chosen{works("a", 9)}, module, "", sandbox.ErrUnavailable, []string{"a: does not run images like /opt/x.wasm"}},
		{"one that does not take the mounts is passed over", []*chosen{works("a", 1), works("b", 3).withoutMounts()}, mounted, "a", nil, nil},
		{"and tells so", []*chosen{works("b", 3).withoutMounts()}, mounted, "", sandbox.ErrUnavailable, []string{"b: does not take such mounts"}},
		{"which counts for mounts alone", []*chosen{works("a", 1), works("b", 3).withoutMounts()}, asked(), "b", nil, nil},
		{"never a negative one", []*chosen{works("plain", -1)}, asked(), "", sandbox.ErrUnavailable, []string{"plain: only used by its name"}},
		{"not even partly", []*chosen{works("plain", -1)}, partly, "", sandbox.ErrUnavailable, nil},
		{"each reason", []*chosen{works("a", 1).failing("no namespaces"), works("b", 2).failing("no runc")}, asked(), "", sandbox.ErrUnavailable, []string{"a: no namespaces", "b: no runc"}},
		{"a reason that is not given", []*chosen{works("a", 1).failing("")}, asked(), "", sandbox.ErrUnavailable, []string{"a: does not work here"}},
		{"what falls short", []*chosen{works("a", 1).enforcing(without(sandbox.Disk, sandbox.CPU))}, asked(), "", sandbox.ErrUnenforceable, []string{"a does not enforce cpu, disk"}},
		{"what falls short is taken when allowed", []*chosen{works("a", 1).enforcing(without(sandbox.Disk)), works("b", 2).enforcing(without(sandbox.CPU))}, partly, "b", nil, nil},
		{"one without a gap goes before", []*chosen{works("a", 1), works("b", 2).enforcing(without(sandbox.CPU))}, partly, "a", nil, nil},
		{"a wrong specification", []*chosen{works("a", 1)}, sandbox.Spec{}, "", sandbox.ErrSpec, nil},
		{"no back end at all", nil, asked(), "", sandbox.ErrUnavailable, []string{"all that this program has are left out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := set(t, c.have...)
			f, err := s.Preferred(t.Context(), c.spec)
			if !errors.Is(err, c.err) {
				t.Fatalf("%v; want %v", err, c.err)
			}
			if err == nil && f.ID() != c.want {
				t.Errorf("%s was preferred; want %s", f.ID(), c.want)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error does not say %q: %v", w, err)
				}
			}
			var u *sandbox.Unenforceable
			if errors.Is(err, sandbox.ErrUnenforceable) && !errors.As(err, &u) {
				t.Error("without the dimensions as its cause")
			}
		})
	}
}

func set(t *testing.T, have ...*chosen) *sandbox.Set {
	t.Helper()
	var list []sandbox.Factory
	for _, c := range have {
		list = append(list, c)
	}
	s := sandbox.NewSet(sandbox.SetOptions{}, list...)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestByID(t *testing.T) {
	s := set(t, works("a", 1), works("plain", -1), works("b", 2), works("b", 7))
	if got := s.IDs(); !slices.Equal(got, []string{"b", "a", "plain"}) {
		t.Errorf("IDs: %v", got)
	}
	if f, err := s.ByID("plain"); err != nil || f.ID() != "plain" {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := s.ByID("b"); err != nil || f.Priority() != 2 {
		t.Errorf("the second of one name took the place of the first: %v, %v", f, err)
	}
	_, err := s.ByID("docker")
	if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "b, a, plain") {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := set(t).ByID("a"); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("in an empty set: %v", err)
	}
	if _, err := s.Create(t.Context(), "a", asked()); !errors.Is(err, sandbox.ErrFailed) || errors.Unwrap(err).Error() != "made by a" {
		t.Errorf("created by name: %v", err)
	}
	if _, err := s.Create(t.Context(), "", asked()); !errors.Is(err, sandbox.ErrFailed) || errors.Unwrap(err).Error() != "made by b" {
		t.Errorf("created without a name: %v", err)
	}
}

func TestProbesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad, never := works("good", 1), works("bad", 2).failing("not now"), works("never", -1)
		s := set(t, good, bad, never)
		for range 3 {
			if _, err := s.Preferred(t.Context(), asked()); err != nil {
				t.Fatal(err)
			}
		}
		counts := func(g, b, n int32) {
			t.Helper()
			if good.probed.Load() != g || bad.probed.Load() != b || never.probed.Load() != n {
				t.Errorf("probed %d, %d, %d times; want %d, %d, %d", good.probed.Load(), bad.probed.Load(), never.probed.Load(), g, b, n)
			}
		}
		counts(1, 1, 0)
		time.Sleep(sandbox.DefaultKeepFailed + time.Second)
		s.Preferred(t.Context(), asked())
		counts(1, 2, 0)
		time.Sleep(sandbox.DefaultKeep)
		list := s.Probe(t.Context())
		counts(2, 3, 1)
		if len(list) != 3 || list[0].ID != "bad" || list[0].Reason != "not now" || !list[1].OK || !list[2].OK {
			t.Errorf("%+v", list)
		}
		s.Close()
		if good.closed.Load() != 1 {
			t.Error("the factory was not closed with its set")
		}
	})
}

// TestProbeThatMisbehaves: one that panics, never answers or is slow is a
// reason, and costs no other back end its turn.
func TestProbeThatMisbehaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		panics, stuck, slow := works("panics", 9), works("stuck", 8), works("slow", 7)
		panics.probe = func(context.Context) sandbox.Availability { panic("oh") }
		stuck.probe = func(context.Context) sandbox.Availability { <-forever; return sandbox.Availability{OK: true} }
		slow.probe = func(ctx context.Context) sandbox.Availability {
			<-ctx.Done()
			return sandbox.Availability{Reason: "did not boot"}
		}
		s := set(t, panics, stuck, slow, works("a", 1), works("idle", 0))
		began := time.Now()
		f, err := s.Preferred(t.Context(), asked())
		if err != nil || f.ID() != "a" {
			t.Errorf("%v, %v", f, err)
		}
		if d := time.Since(began); d > sandbox.DefaultProbeTimeout+2*time.Second {
			t.Errorf("slow probes were waited for one after the other: %v", d)
		}
		var reasons []string
		for _, p := range s.Probe(t.Context())[:3] {
			reasons = append(reasons, p.Reason)
		}
		for i, want := range []string{"panicked: oh", "did not end within 10s", "did not boot"} {
			if !strings.Contains(reasons[i], want) {
				t.Errorf("%q; want %q", reasons[i], want)
			}
		}
		close(forever)
	})
}

// TestCallerGivesUp: the end of one caller's context is no answer for another.
func TestCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := works("slow", 1)
		slow.probe = func(context.Context) sandbox.Availability {
			time.Sleep(time.Second)
			return sandbox.Availability{OK: true, Enforcement: everything()}
		}
		s := set(t, slow)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Preferred(ctx, asked()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if list := s.Probe(ctx); list[0].OK || list[0].Reason == "" {
			t.Errorf("%+v", list[0])
		}
		if f, err := s.Preferred(t.Context(), asked()); err != nil || f.ID() != "slow" {
			t.Errorf("%v, %v", f, err)
		}
		if n := slow.probed.Load(); n != 1 {
			t.Errorf("probed %d times", n)
		}
		s.Close()
		if list := set(t, slow).Probe(t.Context()); !list[0].OK {
			t.Errorf("%+v", list[0])
		}
	})
}

func TestClosedSetProbesNothing(t *testing.T) {
	c := works("a", 1)
	s := set(t, c)
	s.Close()
	if _, err := s.Preferred(t.Context(), asked()); !errors.Is(err, sandbox.ErrUnavailable) || c.probed.Load() != 0 {
		t.Errorf("%v after %d probes", err, c.probed.Load())
	}
}
