package resolver

import (
	"context"
	"runtime"
	"time"
)

// evaluators are the goroutines that evaluate policy, as many as there are
// cores. They are kept for a while, for two reasons. An evaluation recurses
// deeply, and a fresh goroutine would grow its stack by doubling and copying
// it several times, which measured half of the time of a decision; these have
// grown theirs. And under load, callers wait for a free one instead of
// slowing each other down until the deadline of every evaluation is over.
//
// Safe for concurrent use. Nothing has to be closed: idle ones end.
type evaluators struct {
	tasks chan func()
	slots chan struct{}
	idle  time.Duration
}

// evaluatorIdle is how long an evaluator without work stays.
const evaluatorIdle = 30 * time.Second

func newEvaluators() *evaluators {
	return &evaluators{
		tasks: make(chan func()),
		slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
		idle:  evaluatorIdle,
	}
}

// do runs f on an evaluator and waits for it. It gives up, with the error of
// ctx, only before and while it waits for a free one. A panic of f is the caller's.
func (p *evaluators) do(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan any, 1)
	task := func() {
		defer func() { done <- recover() }()
		f()
	}
	select {
	case p.tasks <- task:
	default:
		select {
		case p.tasks <- task:
		case p.slots <- struct{}{}:
			go p.work(task)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if panicked := <-done; panicked != nil {
		panic(panicked)
	}
	return nil
}

func (p *evaluators) work(task func()) {
	defer func() { <-p.slots }()
	timer := time.NewTimer(p.idle)
	defer timer.Stop()
	for {
		task()
		timer.Reset(p.idle)
		select {
		case task = <-p.tasks:
		case <-timer.C:
			return
		}
	}
}
