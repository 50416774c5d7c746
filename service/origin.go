package service

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// role is what a policy is there for. It is the first word of its events.
type role string

const (
	enforced role = "policy"
	shadowed role = "shadow"
)

// origin is where a policy of an installation comes from, and what became
// of the last attempt to renew it.
type origin struct {
	role     role
	resolver *resolver.Resolver
	feed     *feed  // nil where the policy is no URL
	file     string // of a bundle, "" where the policy is none
	seen     string // fingerprint of that file at the last attempt

	renewing  sync.Mutex // held while a policy is renewed
	mu        sync.Mutex
	activated time.Time
	refused   *fault.Error // the content that was seen last is refused
	failed    *fault.Error // the last attempt failed, refused or not
	failedAt  time.Time
}

// openPolicy opens the policy at a start. A bundle that cannot be fetched, or
// is refused, is replaced by the last good one, if that passes; then the
// error is in the status. Without any there is no start.
func openPolicy(ctx context.Context, home string, cfg *config.Config, vet func(context.Context, *resolver.Resolver) error) (*origin, error) {
	o := PolicyOptions(home, cfg)
	o.Vet = vet
	p := &origin{role: enforced}
	var err error
	if isURL(o.Policy) {
		if p.feed, err = newFeed(home, cfg); err != nil {
			return nil, err
		}
		o.Policy, o.Fetch = p.feed.name(), p.feed.current
	} else if st, err := os.Stat(o.Policy); err == nil && !st.IsDir() {
		p.file = o.Policy
		p.seen = fingerprint(p.file)
	}
	if p.resolver, err = resolver.New(ctx, o); err != nil {
		if p.feed == nil || ctx.Err() != nil || !p.feed.restore() {
			return nil, err
		}
		first := fault.From(err)
		if p.resolver, err = resolver.New(ctx, o); err != nil {
			return nil, first
		}
		p.failed, p.failedAt = first, time.Now()
	}
	p.activated = time.Now()
	return p, nil
}

// changed reports whether there is something new to put into force. A folder
// is work in progress: it is read when somebody says so, not while it is
// written. A bundle is put in its place whole.
func (p *origin) changed(ctx context.Context) (bool, error) {
	switch {
	case p.feed != nil:
		return p.feed.poll(ctx)
	case p.file != "":
		now := fingerprint(p.file)
		was := p.seen
		p.seen = now
		return now != was, nil
	}
	return false, nil
}

func fingerprint(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return "absent"
	}
	return fmt.Sprint(st.Size(), st.ModTime().UnixNano(), st.Mode())
}

// renew looks for a new policy and puts it into force if it passes. It tries
// what is there again, changed or not, when always is set. news is false when
// the outcome is the one of the attempt before.
func (p *origin) renew(ctx context.Context, always bool) (activated, news bool, err error) {
	p.renewing.Lock()
	defer p.renewing.Unlock()
	changed, err := p.changed(ctx)
	if err == nil && (changed || always) {
		activated, err = p.resolver.Reload(ctx)
		p.note(func() {
			p.refused = nil
			if err != nil {
				p.refused = fault.From(err)
			} else if activated {
				p.activated = time.Now()
			}
		})
	} else if err == nil && p.refused != nil {
		err = p.refused // the same as before
	}
	p.note(func() {
		was := p.failed
		if p.failed = nil; err != nil {
			if p.failed = fault.From(err); p.failed != was { // what was refused is not refused anew each time that it is looked at
				p.failedAt = time.Now()
			}
		}
		news = activated || (was == nil) != (p.failed == nil) || was != nil && was.Error() != p.failed.Error()
	})
	return activated, news, err
}

// reoperate compiles the policy anew for what the operator allows.
func (p *origin) reoperate(ctx context.Context, op resolver.Operator) error {
	p.renewing.Lock()
	defer p.renewing.Unlock()
	return p.resolver.ReloadFor(ctx, op)
}

func (p *origin) note(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// keep keeps the policy in force for a start without the network.
func (p *origin) keep() error {
	if p.feed == nil {
		return nil
	}
	p.renewing.Lock()
	defer p.renewing.Unlock()
	p.mu.Lock()
	bad := p.refused != nil
	p.mu.Unlock()
	raw, err := p.feed.current(context.Background())
	if bad || err != nil {
		return nil
	}
	return p.feed.keep(raw)
}

func (p *origin) status() PolicyStatus {
	st := PolicyStatus{Policy: p.resolver.Policy(), Revision: p.resolver.Revision()}
	if b := p.resolver.Bundle(); b != nil {
		st.Bundle = b.Revision
	}
	p.note(func() { st.ActivatedAt, st.LastError, st.LastErrorAt = p.activated, p.failed, p.failedAt })
	return st
}

// inForce is what the log says of a policy.
func (p *origin) inForce() map[string]any {
	detail := map[string]any{"policyRevision": p.resolver.Revision(), "policy": p.resolver.Policy()}
	if b := p.resolver.Bundle(); b != nil {
		detail["bundle"] = map[string]any{"revision": b.Revision, "signed": b.Signed, "key": b.Key}
	}
	return detail
}
