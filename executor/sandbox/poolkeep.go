package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Waits between tries to make a sandbox when making one fails.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 10 * time.Second
)

// fill starts the making of as many sandboxes as calls wait for and as are to
// be kept ready, within Max. The lock is held.
//
// While making them fails it is tried again after a while only; but when no
// sandbox exists a call that waits is tried for at once, as nothing else would
// ever answer it.
func (p *Pool) fill() {
	for !p.closed && p.live < p.opts.Max && p.coming < len(p.waiting)+max(0, p.opts.Warm-len(p.idle)) {
		if time.Now().Before(p.retryAt) && (p.live > 0 || len(p.waiting) == 0) {
			p.nudge()
			return
		}
		p.live++
		p.coming++
		p.all.Go(p.make)
	}
}

// nudge lets the janitor look at its clock again.
func (p *Pool) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// make makes one sandbox, for which live and coming have counted already.
func (p *Pool) make() {
	ctx, cancel := context.WithTimeout(p.ctx, p.opts.StartTimeout)
	defer cancel()
	var sb Sandbox
	err := guarded(func() (err error) {
		if sb, err = p.factory.Create(ctx, p.spec); err != nil {
			return err
		}
		return sb.Start(ctx)
	})
	if err != nil && sb != nil {
		_ = guarded(sb.Close)
	}
	p.mu.Lock()
	p.coming--
	if err == nil {
		p.stats.Made++
		p.failures, p.retryAt = 0, time.Time{}
		p.mu.Unlock()
		p.ready(&instance{sb: sb})
		return
	}
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.stats.Failed++
		p.failures++
		p.retryAt = time.Now().Add(min(retryFirst<<min(p.failures-1, 10), retryMost))
	}
	p.gone()
	if p.live == 0 { // nothing that could answer them will come
		for _, w := range p.waiting {
			w.answer <- answer{err: typed(err)}
		}
		p.waiting = nil
	}
	p.fill()
}

// gone is the end of a sandbox. The lock is held.
func (p *Pool) gone() {
	p.live--
	if p.closed && p.live == 0 {
		close(p.empty)
	}
}

// ready gives in, clean and in nobody's hand, to the call that waits longest,
// or keeps it.
func (p *Pool) ready(in *instance) {
	if !alive(in.sb) {
		p.retire(in, &p.stats.Failed)
		return
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.retire(in, nil)
		return
	}
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		w := p.waiting[0]
		p.waiting = p.waiting[1:]
		w.answer <- answer{in: in}
		return
	}
	in.since = time.Now()
	p.idle = append(p.idle, in)
	if len(p.idle) == 1 {
		p.nudge() // of several the first is the oldest, and looked after
	}
}

// retire closes in, in the background, and then makes another in its place if
// one is wanted. count is the figure of the reason, or nil.
func (p *Pool) retire(in *instance, count *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if count != nil {
		*count++
	}
	p.all.Go(func() {
		err := guarded(in.sb.Close)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			p.stats.Failed++
		}
		p.gone()
		p.fill()
	})
	p.fill()
}

// takeBack receives a sandbox whose lease has ended.
func (p *Pool) takeBack(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lent, l)
	p.coming++
	p.all.Go(func() {
		clean, count := p.reclaim(l)
		p.mu.Lock()
		p.coming--
		p.mu.Unlock()
		if clean {
			p.ready(l.in)
		} else {
			p.retire(l.in, count)
		}
	})
}

// reclaim makes the sandbox of l ready for the next lease and tells whether it
// is, and where it is not, the figure to count that in.
func (p *Pool) reclaim(l *Lease) (clean bool, count *int64) {
	sb := l.in.sb
	l.in.uses++
	patience := time.NewTimer(p.opts.ResetTimeout)
	defer patience.Stop()
	select {
	case <-l.over:
	case <-patience.C: // a command that does not end with its context
		_ = guarded(sb.Terminate)
		return false, &p.stats.Failed
	}
	switch {
	case p.ctx.Err() != nil:
		return false, nil
	case l.evict.Load():
		return false, &p.stats.Evicted
	case l.broken.Load():
		return false, &p.stats.Failed
	case p.opts.RecycleAfter > 0 && l.in.uses >= p.opts.RecycleAfter:
		return false, &p.stats.Recycled
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.opts.ResetTimeout)
	defer cancel()
	err := guarded(func() error { return sb.Reset(ctx) })
	switch {
	case err == nil:
		return true, nil
	case p.ctx.Err() != nil:
		return false, nil
	}
	return false, &p.stats.Failed
}

// janitor closes sandboxes that nobody used for long, and has another try made
// after one failed.
func (p *Pool) janitor() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(p.tidy(time.Now()))
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// tidy does what is due, and gives the time until something will be.
func (p *Pool) tidy(now time.Time) time.Duration {
	p.mu.Lock()
	next := time.Hour
	var old []*instance
	if age := p.opts.MaxIdleAge; age > 0 {
		for len(p.idle) > 0 && now.Sub(p.idle[0].since) >= age {
			old = append(old, p.idle[0])
			p.idle = p.idle[1:]
		}
		if len(p.idle) > 0 {
			next = min(next, p.idle[0].since.Add(age).Sub(now))
		}
	}
	if !p.retryAt.IsZero() {
		if d := p.retryAt.Sub(now); d > 0 {
			next = min(next, d)
		} else {
			p.retryAt = time.Time{}
			p.fill()
		}
	}
	p.mu.Unlock()
	for _, in := range old {
		p.retire(in, &p.stats.Recycled)
	}
	return next
}

// alive asks a sandbox that can tell, at once, whether it is still there. The
// last Reset or Start has vouched for others.
func alive(sb Sandbox) bool {
	ok := true
	err := guarded(func() error {
		if a, can := sb.(interface{ Alive() bool }); can {
			ok = a.Alive()
		}
		return nil
	})
	return ok && err == nil
}

// guarded makes an error of a panic: a defect of a back end must not end the
// program that uses it.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Errorf(ErrFailed, "the sandbox failed; see the log").Because(fmt.Errorf("panic: %v", r))
		}
	}()
	return f()
}

// breaks tells whether err, of Exec or Attach, says that the sandbox itself
// may not be whole.
func breaks(err error) bool {
	return err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrSpec) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
