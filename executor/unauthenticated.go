package executor

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// refusedPerSource is how many records a second the refusals of one source
	// make; what is beyond is counted.
	refusedPerSource = 10
	// refusedInAll is the same for all sources together: whoever has many
	// addresses fills no disk with them.
	refusedInAll = 200
	// maxSources bounds the sources that are told apart.
	maxSources = 4096
	// maxNamedSources and maxNamedReasons bound what one event names.
	maxNamedSources = 16
	maxNamedReasons = 32
	// floodEvery is how often what was counted becomes an event.
	floodEvery = time.Second
)

// Refusal is a request of somebody who is not known.
type Refusal struct {
	Origin decision.Origin
	Source netip.Addr // of the connection; the zero value = unknown
	Method string     // kind of the credentials, "" = none came
	Reason string     // stable word of ours
	Tool   string     // that the request names, as far as that was looked at; "" = none
	// TraceID is the W3C trace-id of the request, or "".
	TraceID string
	// Principal is who sent it, where that is known and the request was refused
	// since it is about what belongs to another; nil = nobody.
	Principal *decision.Principal
}

// Refused puts a refused authentication on record: as a call that was closed
// before anything of it was looked at, without a principal. From one source
// that is up to ten a second; what is beyond is counted in an event of kind
// flood, at most one a second. An error is that the record could not be made,
// and the answer has to say no more than that.
func (e *Engine) Refused(ctx context.Context, in Refusal) error {
	if o, ok := e.Observer.(interface{ AuthFailed(method, reason string) }); ok {
		o.AuthFailed(in.Method, in.Reason)
	}
	source := sourceOf(in.Source)
	if !e.refusals.admit(source, e.Now()) {
		e.refusals.count(in.Reason, source, func() { e.reportFlood() })
		return nil
	}
	call := Call{Origin: in.Origin, Name: in.Tool, TraceID: in.TraceID}
	what := "no credentials came"
	switch {
	case in.Principal != nil:
		call.Principal, what = *in.Principal, "what the request is about belongs to another caller"
	case in.Method != "":
		what = in.Method + " credentials did not hold"
	}
	r := e.receive(call)
	from := "an unknown address"
	if in.Source.IsValid() {
		from = in.Source.Unmap().WithZone("").String()
	}
	res := e.record(ctx, r, fault.New(fault.Unauthenticated, in.Reason, "%s: %s; the request came from %s", what, in.Reason, from))
	if res.Err.Code != fault.Unauthenticated {
		return res.Err
	}
	return nil
}

// sourceOf is the part of an address that one sender has: of IPv6 a network of
// 64 bits, within which anybody can take any address.
func sourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero value for the zero address
	return p
}

// refusals bounds what refused authentications write. The zero value is ready.
type refusals struct {
	mu      sync.Mutex
	sources *lru.Cache[netip.Prefix, *rate.Limiter]
	all     *rate.Limiter
	flood   *flood        // what was counted and is in no event yet, nil = nothing
	every   time.Duration // how long that may wait; 0 = floodEvery
}

// flood is what one event says.
type flood struct {
	since   time.Time
	total   int64
	reasons map[string]int64
	sources map[netip.Prefix]int64
	others  int64 // of sources that are not named
}

// admit reports whether a refusal gets a record of its own.
func (f *refusals) admit(source netip.Prefix, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sources == nil {
		f.sources, _ = lru.New[netip.Prefix, *rate.Limiter](maxSources) // fails for a size below 1 alone
		f.all = rate.NewLimiter(refusedInAll, refusedInAll)
	}
	l, ok := f.sources.Get(source)
	if !ok {
		l = rate.NewLimiter(refusedPerSource, refusedPerSource)
		f.sources.Add(source, l)
	}
	return l.AllowN(now, 1) && f.all.AllowN(now, 1)
}

// count adds a refusal without a record. report is called once what there is
// has to become an event, a second after the first one.
func (f *refusals) count(reason string, source netip.Prefix, report func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flood == nil {
		f.flood = newFlood()
		f.later(report)
	}
	f.flood.add(reason, source, 1)
}

func (f *refusals) later(report func()) {
	every := f.every
	if every == 0 {
		every = floodEvery
	}
	time.AfterFunc(every, report)
}

func newFlood() *flood {
	return &flood{since: time.Now(), reasons: map[string]int64{}, sources: map[netip.Prefix]int64{}}
}

func (f *flood) add(reason string, source netip.Prefix, n int64) {
	f.total += n
	if _, ok := f.reasons[reason]; ok || len(f.reasons) < maxNamedReasons {
		f.reasons[reason] += n
	}
	if _, ok := f.sources[source]; ok || len(f.sources) < maxNamedSources {
		f.sources[source] += n
		return
	}
	f.others += n
}

// take gives what was counted, and begins anew.
func (f *refusals) take() *flood {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.flood
	f.flood = nil
	return out
}

// giveBack adds what could not be written to what came meanwhile.
func (f *refusals) giveBack(old *flood, report func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flood == nil {
		f.flood = newFlood()
		f.later(report)
	}
	into := f.flood
	into.since = old.since
	into.total += old.total
	into.others += old.others
	for reason, n := range old.reasons {
		into.reasons[reason] += n // words of ours: their number is bounded
	}
	for source, n := range old.sources {
		if _, ok := into.sources[source]; ok || len(into.sources) < maxNamedSources {
			into.sources[source] += n
		} else {
			into.others += n
		}
	}
}

// reportFlood writes the event, and tries again later where that fails.
func (e *Engine) reportFlood() {
	defer func() {
		if p := recover(); p != nil {
			e.Logger.Error().Str("panic", fmt.Sprintf("%T", p)).Msg("counting refused authentications panicked")
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), recordPatience)
	defer cancel()
	_ = e.FlushRefused(ctx) // which keeps what it could not write
}

// FlushRefused writes the event about refusals that were counted and are in
// none yet, such as before the log is closed.
func (e *Engine) FlushRefused(ctx context.Context) error {
	f := e.refusals.take()
	if f == nil {
		return nil
	}
	sources := map[string]int64{}
	for s, n := range f.sources {
		name := "unknown"
		switch {
		case s.IsSingleIP():
			name = s.Addr().String()
		case s.IsValid():
			name = s.String()
		}
		sources[name] += n
	}
	err := e.Audit.Event(ctx, audit.Event{Kind: "flood", Detail: map[string]any{
		"what": "unauthenticated", "refused": f.total, "seconds": time.Since(f.since).Seconds(),
		"reasons": f.reasons, "sources": sources, "otherSources": f.others,
	}}, nil)
	if err != nil {
		e.refusals.giveBack(f, func() { e.reportFlood() })
		e.Logger.Error().Str("error", err.Error()).Msg("refused authentications could not be counted in the audit log; that is tried again")
	}
	return err
}
