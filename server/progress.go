package server

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/approval"
)

// progressEvery is how often a client that asked for it hears that its call
// still goes on.
const progressEvery = 5 * time.Second

// Stages of a call, as a client with a progressToken hears of them.
const (
	stageStarted = "started"
	stageWaiting = "waiting for a human"
	stageRunning = "running"
)

// progress tells one client how its call goes on: at once, at each new stage,
// and every now and then in between. The first notification also brings the
// headers of an answer over HTTP to the client, which the library holds back
// until there is something to write. A nil progress tells nobody anything.
// Safe for concurrent use.
type progress struct {
	notify func(n float64, stage string)
	stages chan string
	end    chan struct{}
	once   sync.Once
	ended  chan struct{}
}

// progressOf starts to tell the client of a call; nil when it did not ask.
func (d *door) progressOf(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	switch token.(type) {
	case string, int, int64, float64: // what a token may be, as the library decodes it
	default:
		return nil
	}
	return newProgress(d.every, func(n float64, stage string) {
		// A client that does not take it misses it: the call does not depend on it.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: stage})
	})
}

func newProgress(every time.Duration, notify func(n float64, stage string)) *progress {
	p := &progress{notify: notify, stages: make(chan string, 8), end: make(chan struct{}), ended: make(chan struct{})}
	p.stage(stageStarted)
	go p.run(every)
	return p
}

// run is the one that notifies, so that the numbers only grow.
func (p *progress) run(every time.Duration) {
	defer close(p.ended)
	tick := time.NewTicker(every)
	defer tick.Stop()
	n, stage := 0.0, ""
	tell := func() {
		n++
		p.notify(n, stage)
	}
	for {
		select {
		case stage = <-p.stages:
			tell()
		case <-tick.C:
			tell()
		case <-p.end:
			for {
				select {
				case stage = <-p.stages:
					tell()
				default:
					return
				}
			}
		}
	}
}

// stage says that a call has come so far. It never waits for the client.
func (p *progress) stage(s string) {
	if p == nil {
		return
	}
	select {
	case p.stages <- s:
	default: // a client that is so far behind hears of the next one
	}
}

// stop tells what is still to be told and ends; nothing is sent once it has
// returned, since what comes after the answer belongs to no request.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.end) })
	<-p.ended
}

// running gives what a Caller calls when code starts to run; nil for nobody.
func (p *progress) running() func() {
	if p == nil {
		return nil
	}
	return func() { p.stage(stageRunning) }
}

// asking is an Asker that tells the client that its call waits.
type asking struct {
	approval.Asker
	progress *progress
}

// Ask implements approval.Asker.
func (a asking) Ask(ctx context.Context, q approval.Question) (approval.Answer, error) {
	a.progress.stage(stageWaiting)
	return a.Asker.Ask(ctx, q)
}
