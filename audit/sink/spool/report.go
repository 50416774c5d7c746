package spool

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
)

// end is the number that follows the last record.
func (s *store) end() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// sent is the first record that the destination does not have.
func (s *store) sent() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.Next
}

// Status implements audit.Spooler.
func (s *Sink) Status() audit.SpoolStatus {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	n, _ := s.store.waiting()
	st := audit.SpoolStatus{Waiting: int64(n), Lost: s.store.st.lost()}
	if n > 0 {
		st.Oldest = s.store.oldest
	}
	return st
}

// offer is one event of Reports.
type offer struct {
	damage *Damage // or
	reason string
	lines  int64
}

// Reports implements audit.Spooler. While the spool is full no loss is
// reported: the event would only add to what does not fit. What damage costs
// is said with the damage.
func (s *Sink) Reports(now time.Time) []audit.Event {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	s.offers = nil
	untold := map[string]int64{}
	for _, reason := range reasons {
		untold[reason] = st.st.Lost[reason] - st.st.Told[reason]
	}
	var out []audit.Event
	for _, d := range st.damages {
		untold[lostDamaged] -= d.Lines
		s.offers = append(s.offers, offer{damage: d, reason: lostDamaged, lines: d.Lines})
		out = append(out, audit.Event{Kind: "sink.damaged", Detail: map[string]any{
			"file": filepath.Base(d.File), "what": d.What, "lines": d.Lines,
		}})
	}
	if st.full || now.Sub(s.told) < s.o.tellEvery {
		return out
	}
	for _, reason := range reasons {
		if n := untold[reason]; n > 0 {
			s.offers = append(s.offers, offer{reason: reason, lines: n})
			out = append(out, audit.Event{Kind: "sink.lost", Detail: map[string]any{"reason": reason, "lines": n}})
			s.told = now
		}
	}
	return out
}

// Reported implements audit.Spooler.
func (s *Sink) Reported(n int) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, o := range s.offers[:min(n, len(s.offers))] {
		st.st.Told[o.reason] += o.lines
		if o.damage != nil {
			st.damages = slices.DeleteFunc(st.damages, func(d *Damage) bool { return d == o.damage })
		}
	}
	s.offers = nil
	_ = st.st.write(st.f)
}
