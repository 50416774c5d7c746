package audit

import (
	"context"
	"sync"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// probeEvery bounds how often Health tries a red log.
const probeEvery = time.Second

// health remembers whether the last commit worked. Safe for concurrent use.
type health struct {
	mu      sync.Mutex
	err     *fault.Error // of the last commit
	since   time.Time    // first failure of this outage
	refused int          // records refused in it
	reason  string       // of its first failure; kept until the log tells of the outage
	over    time.Time    // when it ended, not told yet; zero while it lasts
	probed  time.Time
	full    bool // the disk was, since the last commit that worked
	largest int  // bytes of the largest record that was refused since
}

// roomLeast is how much has to fit into the log before an outage is over, where
// no larger record was refused: about the record of a call, and more than what
// is left of the last block of the file.
const roomLeast = 16 << 10

// needs is how many bytes have to fit into a log whose disk was full before it
// is green again, 0 of any other. The record of the outage is small: that it can be written says
// nothing of calls.
func (h *health) needs() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.full {
		return 0
	}
	return max(roomLeast, h.largest)
}

// report takes the result of a commit, and whether it told of the outage. A
// sink may be back only after the lines of a commit were chosen: the next one
// tells of it then.
func (h *health) report(err error, refused int, told bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.err, h.full, h.largest = nil, false, 0
		switch {
		case told:
			h.refused, h.reason, h.over = 0, "", time.Time{}
		case h.reason != "" && h.over.IsZero():
			h.over = now
		}
		return
	}
	h.over = time.Time{}
	f := fault.From(err)
	if h.reason == "" {
		h.since, h.reason = now, f.Reason
	}
	h.err = f
	h.full = h.full || f.Reason == ReasonDiskFull
	h.refused += refused
}

// refusedSize takes note of how large a refused record was.
func (h *health) refusedSize(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.largest = max(h.largest, n)
}

// recovered gives the event that tells of an outage, to be written with the
// first batch after it; nil when there was none.
func (h *health) recovered(now time.Time) *Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason == "" {
		return nil
	}
	if !h.over.IsZero() {
		now = h.over
	}
	return &Event{Kind: "audit.outage", Detail: map[string]any{
		"reason": h.reason, "since": h.since.UTC().Format(timeLayout),
		"until": now.UTC().Format(timeLayout), "refusedRecords": h.refused,
	}}
}

// probeDue reports whether a red log is to be tried again now, or one that was
// red has yet to say so.
func (h *health) probeDue(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil && h.reason == "" || now.Sub(h.probed).Abs() < probeEvery {
		return false
	}
	h.probed = now
	return true
}

func (h *health) last() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		return nil
	}
	return h.err
}

// Health is nil while records can be written, and the AUDIT_UNAVAILABLE error
// that calls are refused with otherwise. A log that was red is tried again,
// at most once a second, by writing the record of the outage; so it turns
// green by itself, also without traffic. It does so once a record as large as
// the largest that was refused fits, or one of that size was written. Safe for
// concurrent use.
func (w *Writer) Health(ctx context.Context) error {
	if w.health.probeDue(w.now()) {
		_ = w.submit(ctx, &request{entry: entry{sync: true}})
	}
	return w.health.last()
}
