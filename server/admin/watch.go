package admin

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/internal/tick"
	"github.com/toolwarrant/toolwarrant/service"
)

const (
	// watchEvery is how soon a stream tells what another process did.
	watchEvery = time.Second
	// watchOn is how long the watch goes on without a stream, for clients that
	// come back.
	watchOn = time.Minute
)

// watcher makes events of what changes, in this process or in another one
// that shares the home. It looks only while somebody listens.
type watcher struct {
	s   *service.Service
	bus *bus
	log zerolog.Logger

	mu        sync.Mutex
	on        bool
	alone     time.Time // since when nobody listens
	said      string    // the failure that was logged last
	approvals map[string]approval.State
	catalog   string
	policy    policyEvent
}

// approvalEvent says what became of a question. What it says is for those who
// may read it: they fetch it by its id.
type approvalEvent struct {
	ID        string         `json:"id"`
	State     approval.State `json:"state"`
	RiskLevel string         `json:"riskLevel"`
}

type catalogEvent struct {
	Revision string `json:"revision"`
}

// policyEvent is comparable.
type policyEvent struct {
	Revision string `json:"revision"`
	Code     string `json:"code"`   // why a newer one is not in force, "" = nothing hinders
	Reason   string `json:"reason"` // below code
}

// jobEvent is a job without its result and the tool that it is at, which not
// everybody may see.
func jobEvent(j service.Job) map[string]any {
	return map[string]any{"id": j.ID, "kind": j.Kind, "subject": j.Subject, "state": j.State, "done": j.Done, "total": j.Total, "cancelling": j.Cancelled}
}

func (w *watcher) run(ctx context.Context) {
	for now := range tick.Every(ctx, watchEvery) {
		if w.idle(now) {
			continue
		}
		w.look(ctx)
	}
}

// idle reports whether nobody listens, and ends the watch after a while.
func (w *watcher) idle(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on {
		return true
	}
	if w.bus.streams() > 0 {
		w.alone = now
		return false
	}
	if now.Sub(w.alone) < watchOn {
		return false
	}
	w.on = false
	w.bus.renew()
	return true
}

// wake begins the watch, if nobody listened before: what changes from here on
// becomes events.
func (w *watcher) wake(ctx context.Context) { w.look(ctx) }

// look publishes what is not as it was.
func (w *watcher) look(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.on
	if first {
		w.on, w.alone, w.approvals = true, time.Now(), map[string]approval.State{}
	}
	if revision := w.s.Catalog.Revision(); revision != w.catalog {
		w.catalog = revision
		w.publish(first, topicCatalog, catalogEvent{revision})
	}
	st := w.s.PolicyStatus()
	now := policyEvent{Revision: st.Revision}
	if st.LastError != nil {
		now.Code, now.Reason = string(st.LastError.Code), st.LastError.Reason
	}
	if now != w.policy {
		w.policy = now
		w.publish(first, topicPolicy, now)
	}
	w.questions(ctx, first)
}

func (w *watcher) questions(ctx context.Context, first bool) {
	all, err := w.s.Approvals.List(ctx)
	if err != nil {
		if ctx.Err() == nil && err.Error() != w.said {
			w.said = err.Error()
			w.log.Error().Err(err).Msg("the admin interface cannot watch the approvals")
		}
		return
	}
	w.said = ""
	seen := make(map[string]approval.State, len(all))
	for _, p := range all {
		seen[p.ID] = p.State
		if was, known := w.approvals[p.ID]; !known || was != p.State {
			w.publish(first, topicApprovals, approvalEvent{p.ID, p.State, p.Question.RiskLevel})
		}
	}
	w.approvals = seen
}

func (w *watcher) publish(first bool, topic string, v any) {
	if !first {
		w.bus.publish(topic, v)
	}
}
