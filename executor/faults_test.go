package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// The wrappers below make one part of an engine fail at the n-th time that it
// is asked. Which times there are is found by asking once without a fault, so
// that a step that is added later is found too.

// How a part fails.
const (
	failPanic   = "panic"   // it panics
	failError   = "error"   // it gives an error, of the kind that it may give
	failTimeout = "timeout" // the call's time is over while it works
	failGone    = "gone"    // the caller leaves while it works, and it works on
	failLate    = "late"    // it does its work, and then says that it failed
	failKill    = "kill"    // the process dies
)

var errInjected = errors.New("injected detail")

// injector makes a part fail at one place, such as "Policy.Resolve#2".
type injector struct {
	mu    sync.Mutex
	seen  map[string]int
	order []string // the places in their order
	at    string
	how   string
	leave context.CancelFunc // of the call that runs
	die   func()
	done  bool // it has failed
}

// hit is asked by a part before it works: whether it fails, and how late.
func (j *injector) hit(name string, err error) (before, after error) {
	j.mu.Lock()
	if j.seen == nil {
		j.seen = map[string]int{}
	}
	j.seen[name]++
	place := fmt.Sprintf("%s#%d", name, j.seen[name])
	j.order = append(j.order, place)
	here := place == j.at && !j.done
	j.done = j.done || here
	leave := j.leave // the shadow is asked beside the call, and may be here at any time
	j.mu.Unlock()
	if !here {
		return nil, nil
	}
	switch j.how {
	case failPanic:
		panic("injected at " + place)
	case failError:
		return err, nil
	case failLate:
		return nil, err
	case failTimeout:
		leave()
		return context.Canceled, nil
	case failGone:
		leave()
	case failKill:
		j.die()
	}
	return nil, nil
}

// around does work, or fails, as the injector says.
func around[T any](j *injector, name string, err error, work func() (T, error)) (T, error) {
	var none T
	before, after := j.hit(name, err)
	if before != nil {
		return none, before
	}
	v, err := work()
	if after != nil {
		return none, after
	}
	return v, err
}

func around0(j *injector, name string, err error, work func() error) error {
	_, err = around(j, name, err, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

type faultyCatalog struct {
	Catalog
	*injector
}

func (c faultyCatalog) Lookup(ctx context.Context, name string) (*catalog.Tool, error) {
	return around(c.injector, "Catalog.Lookup", errInjected, func() (*catalog.Tool, error) { return c.Catalog.Lookup(ctx, name) })
}

func (c faultyCatalog) Exposed(t *catalog.Tool) (bool, string) {
	if before, after := c.hit("Catalog.Exposed", errInjected); before != nil || after != nil {
		return false, "injected"
	}
	return c.Catalog.Exposed(t)
}

type faultyPolicy struct {
	Policy
	*injector
}

var errPolicy = fault.New(fault.PolicyUnavailable, "injected", "injected")

func (p faultyPolicy) Resolve(ctx context.Context, req resolver.Request) (*decision.Decision, error) {
	return around(p.injector, "Policy.Resolve", errPolicy, func() (*decision.Decision, error) { return p.Policy.Resolve(ctx, req) })
}

func (p faultyPolicy) Visible(ctx context.Context, who decision.Principal, tools []resolver.Tool) ([]bool, error) {
	return around(p.injector, "Policy.Visible", errPolicy, func() ([]bool, error) { return p.Policy.Visible(ctx, who, tools) })
}

func (p faultyPolicy) Artefact(revision string) (resolver.Artefact, bool) {
	_, _ = p.hit("Policy.Artefact", nil)
	return p.Policy.Artefact(revision)
}

type faultyStore struct {
	approval.Store
	*injector
}

func (s faultyStore) Exclusively(ctx context.Context, f func(context.Context) error) error {
	return around0(s.injector, "Store.Exclusively", errInjected, func() error { return s.Store.Exclusively(ctx, f) })
}

func (s faultyStore) Create(ctx context.Context, p approval.Pending) error {
	return around0(s.injector, "Store.Create", errInjected, func() error { return s.Store.Create(ctx, p) })
}

func (s faultyStore) Get(ctx context.Context, id string) (approval.Pending, error) {
	return around(s.injector, "Store.Get", errInjected, func() (approval.Pending, error) { return s.Store.Get(ctx, id) })
}

func (s faultyStore) List(ctx context.Context) ([]approval.Pending, error) {
	return around(s.injector, "Store.List", errInjected, func() ([]approval.Pending, error) { return s.Store.List(ctx) })
}

func (s faultyStore) Transition(ctx context.Context, id string, from, to approval.State, change func(*approval.Pending)) (approval.Pending, error) {
	return around(s.injector, "Store.Transition", errInjected, func() (approval.Pending, error) {
		return s.Store.Transition(ctx, id, from, to, change)
	})
}

type faultyLog struct {
	audit.Log
	*injector
}

var errLog = fault.New(fault.AuditUnavailable, "injected", "injected")

func (l faultyLog) Ask(ctx context.Context, c audit.Call, m audit.Masker) error {
	return around0(l.injector, "Audit.Ask", errLog, func() error { return l.Log.Ask(ctx, c, m) })
}

func (l faultyLog) Open(ctx context.Context, c audit.Call, sync bool, m audit.Masker) error {
	return around0(l.injector, "Audit.Open", errLog, func() error { return l.Log.Open(ctx, c, sync, m) })
}

func (l faultyLog) Close(ctx context.Context, c audit.Call, m audit.Masker) error {
	return around0(l.injector, "Audit.Close", errLog, func() error { return l.Log.Close(ctx, c, m) })
}

func (l faultyLog) Object(ctx context.Context, o audit.Object) error {
	return around0(l.injector, "Audit.Object", errLog, func() error { return l.Log.Object(ctx, o) })
}

type faultyRuntime struct {
	Runtime
	*injector
}

func (r faultyRuntime) Run(ctx context.Context, c worker.Call, b worker.Broker) (worker.Reply, error) {
	return around(r.injector, "Runtime.Run", errInjected, func() (worker.Reply, error) { return r.Runtime.Run(ctx, c, b) })
}

func (r faultyRuntime) Isolation() worker.Isolation {
	_, _ = r.hit("Runtime.Isolation", nil)
	return r.Runtime.Isolation()
}

type faultyKeys struct {
	keyring.Keyring
	*injector
}

func (k faultyKeys) Current(p keyring.Purpose) (keyring.Key, error) {
	return around(k.injector, "Keys.Current", errInjected, func() (keyring.Key, error) { return k.Keyring.Current(p) })
}

func (k faultyKeys) Lookup(p keyring.Purpose, id string) (keyring.Key, bool, error) {
	ok := false
	key, err := around(k.injector, "Keys.Lookup", errInjected, func() (key keyring.Key, err error) {
		key, ok, err = k.Keyring.Lookup(p, id)
		return key, err
	})
	return key, ok, err
}

type faultyObserver struct{ *injector }

func (o faultyObserver) Decided(string)  { _, _ = o.hit("Observer.Decided", nil) }
func (o faultyObserver) Shadowed(string) { _, _ = o.hit("Observer.Shadowed", nil) }

type faultyAsker struct {
	approval.Asker
	*injector
}

func (a faultyAsker) Ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	return around(a.injector, "Asker.Ask", errInjected, func() (approval.Answer, error) { return a.Asker.Ask(ctx, q) })
}

func (a faultyAsker) Channel() string {
	_, _ = a.hit("Asker.Channel", nil)
	return a.Asker.Channel()
}

// now is a clock that can fail.
func (j *injector) now() time.Time {
	_, _ = j.hit("Now", nil)
	return time.Now()
}

// env is an environment that can fail.
func (j *injector) env(string) (string, bool) {
	if before, after := j.hit("Env", errInjected); before != nil || after != nil {
		return "", false
	}
	return "a-value-of-the-environment", true
}

// places are those that were reached, in their order.
func (j *injector) places() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.order)
}

// fired reports whether the fault has happened.
func (j *injector) fired() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done
}

// reached waits until the fault has happened. What is asked beside a call, for
// the shadow policy, may come a little later than its answer.
func (j *injector) reached() bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if j.fired() {
			return true
		}
	}
	return false
}

// part is the name of a place without its number.
func part(place string) string {
	name, _, _ := strings.Cut(place, "#")
	return name
}
