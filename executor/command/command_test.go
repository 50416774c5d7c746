package command

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// fake is a back end that runs nothing and remembers what it was asked.
type fake struct {
	id     string
	prio   int
	have   sandbox.Enforcement
	broken bool // its probe fails

	mu     sync.Mutex
	specs  []sandbox.Spec
	cmds   []sandbox.Command
	open   int
	answer func(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

func everything(l sandbox.Level) sandbox.Enforcement {
	e := sandbox.Enforcement{}
	for _, d := range sandbox.Dimensions() {
		e[d] = sandbox.Strength{Level: l, By: "fake"}
	}
	return e
}

func (f *fake) ID() string    { return f.id }
func (f *fake) Priority() int { return f.prio }
func (f *fake) Probe(context.Context) sandbox.Availability {
	return sandbox.Availability{OK: !f.broken, Reason: "broken", Enforcement: f.have}
}

func (f *fake) Create(_ context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	if err := s.Admit(f.id, f.have); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.specs = append(f.specs, s)
	f.open++
	return &box{f: f}, nil
}

type box struct {
	sandbox.Sandbox
	f    *fake
	once sync.Once
}

func (b *box) ID() string                       { return "sb" }
func (b *box) Backend() string                  { return b.f.id }
func (b *box) Enforcement() sandbox.Enforcement { return b.f.have }
func (b *box) Close() error {
	b.once.Do(func() { b.f.mu.Lock(); defer b.f.mu.Unlock(); b.f.open-- })
	return nil
}

func (b *box) Exec(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	b.f.mu.Lock()
	b.f.cmds = append(b.f.cmds, c)
	b.f.mu.Unlock()
	return b.f.answer(ctx, c)
}

func says(out string) func(context.Context, sandbox.Command) (sandbox.Result, error) {
	return func(context.Context, sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{Stdout: []byte(out), Usage: sandbox.Usage{CPU: -1, PeakMemory: -1}}, nil
	}
}

// policy is a decision that lets commands run in the fakes.
func policy() decision.EffectivePolicy {
	return decision.EffectivePolicy{
		Network: decision.Network{Mode: "blocked"}, MaxMemoryBytes: 128 << 20, MaxOutputBytes: 1000, TimeoutSeconds: 30,
		Sandbox: &decision.Sandbox{
			Backends: []string{"a", "b"}, Require: map[string]string{"syscalls": "partial"},
			Limits: decision.SandboxLimits{CPUMillis: 1500, MemoryMB: 256, DiskMB: 64, MaxProcesses: 32},
		},
	}
}

func runner(t *testing.T, p decision.EffectivePolicy, edit func(*Options), list ...sandbox.Factory) *Runner {
	t.Helper()
	set := sandbox.NewSet(sandbox.SetOptions{}, list...)
	o := Options{Sandboxes: NewSandboxes(set), Policy: p, CallID: "call-1", Ends: time.Now().Add(time.Minute), Mask: mask.New([]string{"hunter2!"}), Logger: zerolog.Nop()}
	if edit != nil {
		edit(&o)
	}
	r := New(o)
	t.Cleanup(func() { r.Close(); set.Close() })
	return r
}

// TestSpec: the specification is what the decision says, in every part.
func TestSpec(t *testing.T) {
	base := t.TempDir()
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		edit func(p *decision.EffectivePolicy)
		want func(s *sandbox.Spec)
	}{
		"nothing granted": {func(*decision.EffectivePolicy) {}, func(*sandbox.Spec) {}},
		"an allow-list": {func(p *decision.EffectivePolicy) {
			p.Network = decision.Network{Mode: "allowlist", Hosts: []string{"a.test"}, HostsDeny: []string{"b.test"}, Ports: []int{5432}, PrivateHosts: []string{"a.test:5432"}}
		}, func(s *sandbox.Spec) {
			s.Network = sandbox.AllowList{Hosts: []string{"a.test"}, Deny: []string{"b.test"}, Ports: []int{5432}, Private: []string{"a.test:5432"}}
		}},
		"an empty allow-list": {func(p *decision.EffectivePolicy) { p.Network.Mode = "allowlist" }, func(*sandbox.Spec) {}},
		"strict": {func(p *decision.EffectivePolicy) {
			p.Network = decision.Network{Mode: "strict", Hosts: []string{"ignored.test"}, HostsDeny: []string{"b.test"}}
		}, func(s *sandbox.Spec) {
			s.Network = sandbox.AllowList{Hosts: []string{"*"}, Deny: []string{"b.test"}}
		}},
		"open": {func(p *decision.EffectivePolicy) { p.Network.Mode = "open" }, func(s *sandbox.Spec) { s.Network = sandbox.Inherit{} }},
		"reading": {func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, BasePath: base} }, func(s *sandbox.Spec) {
			s.Mounts, s.WorkingDir = []sandbox.Mount{{Source: real, Target: Work}}, Work
		}},
		"reading and writing": {func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, Write: true, BasePath: base} }, func(s *sandbox.Spec) {
			s.Mounts, s.WorkingDir = []sandbox.Mount{{Source: real, Target: Work, Writable: true}}, Work
		}},
		"writing alone shows nothing": {func(p *decision.EffectivePolicy) { p.FS = decision.FS{Write: true, BasePath: base} }, func(*sandbox.Spec) {}},
		"a variable":                  {func(p *decision.EffectivePolicy) { p.Sandbox.Env = []string{"KEY", "NONE"} }, func(s *sandbox.Spec) { s.Env = []string{"KEY=v"} }},
		"less memory than the call":   {func(p *decision.EffectivePolicy) { p.Sandbox.Limits.MemoryMB = 32 }, func(s *sandbox.Spec) { s.Limits.MemoryMB = 32 }},
		"image, warm, partial": {func(p *decision.EffectivePolicy) {
			p.Sandbox.Image, p.Sandbox.Warm, p.Sandbox.AllowPartial = "dir:/x", "python", true
		}, func(s *sandbox.Spec) { s.Image, s.Warm, s.AllowPartial = "dir:/x", "python", true }},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			tc.edit(&p)
			f := &fake{id: "a", have: everything(sandbox.Full), answer: says("")}
			r := runner(t, p, func(o *Options) { o.Statics = map[string]string{"KEY": "v", "OTHER": "hunter2!"} }, f)
			if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"x"}}); failed != nil {
				t.Fatal(failed)
			}
			want := sandbox.Spec{
				Network: sandbox.DenyAll{}, Require: sandbox.Enforcement{sandbox.Syscalls: {Level: sandbox.Partial}},
				Limits: sandbox.Limits{CPUShares: 1.5, MemoryMB: 128, DiskMB: 64, MaxProcesses: 32, Timeout: f.specs[0].Limits.Timeout},
			}
			tc.want(&want)
			if diff := cmp.Diff(want, f.specs[0]); diff != "" {
				t.Error(diff)
			}
			if left := f.specs[0].Limits.Timeout; left <= 0 || left > time.Minute {
				t.Errorf("the command has %v", left)
			}
		})
	}
}

// TestRefused: nothing starts, the code is told why without a word of this
// machine, and one event is kept.
func TestRefused(t *testing.T) {
	outside := t.TempDir()
	for name, tc := range map[string]struct {
		policy func(p *decision.EffectivePolicy)
		opts   func(o *Options)
		fake   *fake
		cmd    worker.Command
		want   string
	}{
		"no sandboxes":      {opts: func(o *Options) { o.Sandboxes = nil }, want: "RUNTIME_ERROR/sandbox-unavailable"},
		"none decided":      {policy: func(p *decision.EffectivePolicy) { p.Sandbox = nil }, want: "SECURITY/sandbox-not-decided"},
		"none allowed":      {policy: func(p *decision.EffectivePolicy) { p.Sandbox.Backends = nil }, want: "SECURITY/sandbox-not-decided"},
		"none works":        {fake: &fake{broken: true}, want: "RUNTIME_ERROR/sandbox-unavailable"},
		"another is wanted": {policy: func(p *decision.EffectivePolicy) { p.Sandbox.Backends = []string{"c"} }, want: "RUNTIME_ERROR/sandbox-unavailable"},
		"too weak":          {fake: &fake{have: everything(sandbox.Partial)}, want: "SECURITY/sandbox-unenforceable"},
		"one named, too weak": {policy: func(p *decision.EffectivePolicy) { p.Sandbox.Backends = []string{"a"} },
			fake: &fake{have: everything(sandbox.Partial)}, want: "SECURITY/sandbox-unenforceable"},
		"an unknown level":               {policy: func(p *decision.EffectivePolicy) { p.Sandbox.Require["cpu"] = "total" }, want: "RUNTIME_ERROR/sandbox-spec"},
		"an unknown mode":                {policy: func(p *decision.EffectivePolicy) { p.Network.Mode = "custom" }, want: "RUNTIME_ERROR/sandbox-spec"},
		"no time left":                   {opts: func(o *Options) { o.Ends = time.Now().Add(-time.Second) }, want: "TIMEOUT/timeout"},
		"no base":                        {policy: func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, BasePath: outside + "/none"} }, want: "RUNTIME_ERROR/sandbox-spec"},
		"a base outside":                 {policy: func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, BasePath: outside} }, opts: func(o *Options) { o.Roots = []string{t.TempDir()} }, want: "RUNTIME_ERROR/sandbox-spec"},
		"a zero byte":                    {cmd: worker.Command{Argv: []string{"x", "a\x00b"}}, want: "INVALID_INPUT/command-zero-byte"},
		"a bad variable":                 {cmd: worker.Command{Argv: []string{"x"}, Env: [][2]string{{"A=B", "c"}}}, want: "INVALID_INPUT/environment"},
		"a secret variable":              {cmd: worker.Command{Argv: []string{"x"}, Env: [][2]string{{"A", "pre-hunter2!"}}}, want: "SECURITY/environment-secret"},
		"own: not allowed":               {opts: func(o *Options) { o.Own = &Own{Backend: "plain"} }, want: "SECURITY/sandbox-unenforceable"},
		"own: more memory":               {opts: func(o *Options) { o.Own = &Own{Limits: decision.SandboxLimits{MemoryMB: 1000}} }, want: "SECURITY/sandbox-limits"},
		"own: more time":                 {opts: func(o *Options) { o.Own = &Own{Timeout: time.Hour} }, want: "SECURITY/sandbox-limits"},
		"own: a mount without the grant": {policy: func(p *decision.EffectivePolicy) { p.FS.Read = false }, opts: func(o *Options) { o.Own = &Own{Mounts: []sandbox.Mount{{Source: "/usr", Target: "/x"}}} }, want: "SECURITY/sandbox-mount"},
		"own: a writable mount without the grant": {policy: func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, BasePath: outside} }, opts: func(o *Options) {
			o.Own = &Own{Mounts: []sandbox.Mount{{Source: "/usr", Target: "/x", Writable: true}}}
		}, want: "SECURITY/sandbox-mount"},
		"own: a wrong mount": {policy: func(p *decision.EffectivePolicy) { p.FS = decision.FS{Read: true, BasePath: outside} }, opts: func(o *Options) { o.Own = &Own{Mounts: []sandbox.Mount{{Source: "rel", Target: "/x"}}} }, want: "INVALID_INPUT/sandbox-spec"},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			if tc.policy != nil {
				tc.policy(&p)
			}
			f := stdcmp.Or(tc.fake, &fake{})
			f.id, f.answer = "a", says("ran")
			if f.have == nil {
				f.have = everything(sandbox.Full)
			}
			cmd := tc.cmd
			if cmd.Argv == nil {
				cmd.Argv = []string{"x"}
			}
			r := runner(t, p, tc.opts, f)
			_, failed := r.Run(context.Background(), cmd)
			if failed == nil || failed.Code+"/"+failed.Reason != tc.want {
				t.Fatalf("got %v, want %s", failed, tc.want)
			}
			if len(f.cmds) > 0 {
				t.Error("the command ran")
			}
			if strings.Contains(failed.Message, outside) {
				t.Errorf("the message names a path: %s", failed.Message)
			}
			events := r.Events()
			if len(events) != 1 || events[0].Error != failed.Reason || events[0].ExitCode != -1 || !slices.Equal(events[0].Argv, cmd.Argv) {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

func TestRuns(t *testing.T) {
	f := &fake{id: "a", prio: 1, have: everything(sandbox.Full), answer: says("with hunter2! in it\xff")}
	weak := &fake{id: "b", have: everything(sandbox.Full), answer: says("")}
	p := policy()
	p.Sandbox.Env = []string{"OK"}
	r := runner(t, p, nil, weak, f)
	got, failed := r.Run(context.Background(), worker.Command{
		Argv: []string{"x", "y"}, Env: [][2]string{{"A", "b"}, {"OK", "hunter2!"}}, Dir: "sub", Input: "in", TimeoutMillis: 1500, MergeOutput: true,
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if got.Stdout != "with *** in it\ufffd" || got.ExitCode != 0 {
		t.Errorf("result: %+v", got)
	}
	c := f.cmds[0]
	in := new(bytes.Buffer)
	in.ReadFrom(c.Stdin)
	if in.String() != "in" || c.Timeout != 1500*time.Millisecond || c.Dir != "/sub" || c.MaxOutput != 1000 || c.CorrelationID != "call-1" ||
		!slices.Equal(c.Env, []string{"A=b", "OK=hunter2!"}) || !slices.Equal(c.Argv[3:], []string{"sh", "x", "y"}) {
		t.Errorf("command: %+v", c)
	}
	if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"z"}}); failed != nil {
		t.Fatal(failed)
	}
	if len(f.specs) != 1 || len(weak.specs) != 0 || f.open != 1 {
		t.Errorf("%d sandboxes, %d of the weaker kind, %d open", len(f.specs), len(weak.specs), f.open)
	}
	if events := r.Events(); len(events) != 2 || events[1].Argv[0] != "z" || events[0].Backend != "a" || events[0].Network != "DenyAll" {
		t.Errorf("events: %+v", events)
	}
	r.Close()
	if f.open != 0 {
		t.Error("the sandbox is open after the call")
	}
	if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"late"}}); failed == nil || failed.Reason != "sandbox-closed" {
		t.Errorf("after the end: %v", failed)
	}
}

// TestCutOutput: the beginning of a secret at the end of what was kept is
// hidden too.
func TestCutOutput(t *testing.T) {
	f := &fake{id: "a", have: everything(sandbox.Full), answer: func(context.Context, sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{Stdout: []byte("key hunter"), Stderr: []byte("key hunter"), Truncated: true}, nil
	}}
	got, failed := runner(t, policy(), nil, f).Run(context.Background(), worker.Command{Argv: []string{"x"}})
	if failed != nil || got.Stdout != "key ***" || got.Stderr != "key ***" || !got.Truncated {
		t.Errorf("%+v, %v", got, failed)
	}
}

// TestCancelled: the end of the call ends the command, and a sandbox that broke
// is not used again.
func TestCancelled(t *testing.T) {
	started := make(chan struct{})
	f := &fake{id: "a", have: everything(sandbox.Full)}
	f.answer = func(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
		if c.Argv[0] == "break" {
			return sandbox.Result{}, errors.New("/host/path broke")
		}
		close(started)
		<-ctx.Done()
		return sandbox.Result{}, ctx.Err()
	}
	r := runner(t, policy(), nil, f)
	if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"break"}}); failed == nil || failed.Reason != "sandbox-failed" || strings.Contains(failed.Message, "/host") {
		t.Errorf("broken: %v", failed)
	}
	if f.open != 0 {
		t.Error("what broke stays open")
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-started; cancel() }()
	if _, failed := r.Run(ctx, worker.Command{Argv: []string{"wait"}}); failed == nil || failed.Code != "INTERRUPTED" {
		t.Errorf("cancelled: %v", failed)
	}
	if _, failed := r.Run(ctx, worker.Command{Argv: []string{"late"}}); failed == nil || failed.Code != "INTERRUPTED" {
		t.Errorf("late: %v", failed)
	}
	if got := r.Events(); len(got) != 2 || got[1].Error != "cancelled" {
		t.Errorf("events: %+v", got)
	}
}

// TestOwn: output of an own command arrives as it comes, masked.
func TestOwn(t *testing.T) {
	f := &fake{id: "a", have: everything(sandbox.Full), answer: func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		for _, part := range []string{"a hun", "ter2! b"} {
			c.Stdout.Write([]byte(part))
		}
		return sandbox.Result{}, nil
	}}
	var out bytes.Buffer
	mount := sandbox.Mount{Source: os.TempDir(), Target: "/m"}
	p := policy()
	p.FS = decision.FS{Read: true, Write: true, BasePath: t.TempDir()}
	r := runner(t, p, func(o *Options) {
		o.Own = &Own{Backend: "a", Image: "dir:/i", Mounts: []sandbox.Mount{mount}, Stdout: &out, Limits: decision.SandboxLimits{MemoryMB: 128}}
	}, f)
	if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"x"}}); failed != nil {
		t.Fatal(failed)
	}
	if out.String() != "a *** b" {
		t.Errorf("output: %q", out.String())
	}
	if s := f.specs[0]; s.Image != "dir:/i" || len(s.Mounts) != 1 || s.Mounts[0] != mount || s.WorkingDir != "" {
		t.Errorf("spec: %+v", s)
	}
	if f.cmds[0].Stderr != nil {
		t.Error("a writer that nobody asked for")
	}
}

// TestEveryCommandIsOnRecord: what the record of a call has no room for does
// not run.
func TestEveryCommandIsOnRecord(t *testing.T) {
	f := &fake{id: "a", have: everything(sandbox.Full), answer: says("")}
	r := runner(t, policy(), nil, f)
	for range maxKept {
		if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"true"}}); failed != nil {
			t.Fatal(failed)
		}
	}
	if _, failed := r.Run(context.Background(), worker.Command{Argv: []string{"bad"}}); failed == nil || failed.Reason != "too-many-commands" {
		t.Errorf("got %v", failed)
	}
	if len(f.cmds) != maxKept || len(r.Events()) != maxKept {
		t.Errorf("%d commands ran, %d are on record", len(f.cmds), len(r.Events()))
	}
}
