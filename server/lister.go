package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// shelf is what a lister asks; an installation is one (service.Service).
type shelf interface {
	// Visible lists the tools that p may see and call, by name.
	Visible(ctx context.Context, p decision.Principal) ([]*catalog.Tool, error)
	// Outlook gives what the hints about a tool follow from.
	Outlook(ctx context.Context, t *catalog.Tool, p decision.Principal) (resolver.Outlook, error)
	// ListRevision names what the lists of all callers depend on beside who
	// asks, and changes with it.
	ListRevision() string
}

// Bounds of what a lister remembers.
const (
	maxListCallers = 4096
	maxListBytes   = 64 << 20
	// hintsAge is how long hints are good for. Who sees what depends on nothing
	// that moves by itself (a policy in which it did is refused), but the level
	// of a tool may depend on the time of day.
	hintsAge = 15 * time.Minute
)

// lister gives callers their lists. It decides nothing: who sees what is asked
// of the shelf. It remembers the answer of each caller for one ListRevision, and
// keeps one encoded list for all callers with the same answer. Safe for
// concurrent use.
type lister struct {
	shelf shelf
	now   func() time.Time

	// building holds whoever puts a list together: the next one then finds
	// most of its own answers remembered, where side by side both would ask.
	building chan struct{}
	callers  *lru.Cache[string, listOf] // by digest of the principal
	memory   *listMemory
}

// listOf is which list a caller sees.
type listOf struct {
	revision string
	key      listKey
	since    time.Time
}

func newLister(s shelf, bytes int) *lister {
	callers, err := lru.New[string, listOf](maxListCallers)
	if err != nil { // only a size below one is an error
		panic(err)
	}
	return &lister{
		shelf: s, now: time.Now, building: make(chan struct{}, 1), callers: callers, memory: newListMemory(bytes),
	}
}

// list gives the list of p.
func (l *lister) list(ctx context.Context, p decision.Principal) (*List, error) {
	who, err := digest.JSON(p)
	if err != nil {
		return nil, fault.New(fault.PolicyUnavailable, "eval-error", "the principal cannot be read").Because(err)
	}
	if found, ok := l.remembered(who); ok {
		return found, nil
	}
	select {
	case l.building <- struct{}{}:
		defer func() { <-l.building }()
	case <-ctx.Done():
		return nil, fault.New(fault.PolicyUnavailable, "canceled", "the caller went away before its list was put together").Because(ctx.Err())
	}
	if found, ok := l.remembered(who); ok {
		return found, nil
	}
	// A policy or a catalog that changes meanwhile may be in a part of the
	// list only: what is remembered is of one revision.
	const tries = 3
	for try := 1; ; try++ {
		revision, since := l.shelf.ListRevision(), l.now()
		built, key, whole, err := l.build(ctx, p)
		if err != nil {
			return nil, err
		}
		if l.shelf.ListRevision() == revision {
			if whole {
				l.callers.Add(who, listOf{revision, key, since})
			}
			return built, nil
		}
		if try == tries {
			return built, nil
		}
	}
}

func (l *lister) remembered(who string) (*List, bool) {
	of, ok := l.callers.Get(who)
	if !ok || of.revision != l.shelf.ListRevision() || l.now().Sub(of.since) >= hintsAge {
		return nil, false
	}
	return l.memory.list(of.key)
}

// build asks for the list of p. whole is false when a tool had to be left out
// that may be there the next time.
func (l *lister) build(ctx context.Context, p decision.Principal) (built *List, key listKey, whole bool, err error) {
	tools, err := l.shelf.Visible(ctx, p)
	if err != nil {
		return nil, key, false, err
	}
	seen := make([]shown, 0, len(tools))
	whole = true
	for _, t := range tools {
		o, err := l.shelf.Outlook(ctx, t, p)
		if err != nil {
			if ctx.Err() != nil {
				return nil, key, false, err
			}
			// One that the policy rejects cannot be called either.
			whole = whole && fault.From(err).Code == fault.ResolverReject
			continue
		}
		seen = append(seen, shown{t, hintsOf(o)})
	}
	key = keyOf(seen)
	if found, ok := l.memory.list(key); ok {
		return found, key, whole, nil
	}
	built = &List{key: key}
	for run := range runs(seen, shown.name) {
		part := keyOf(run)
		s, ok := l.memory.segment(part)
		if !ok {
			views := make([]ToolView, len(run))
			for i, v := range run {
				views[i] = view(v.tool, v.hints)
			}
			if s, err = newSegment(views); err != nil {
				return nil, key, false, err
			}
			s.key = part
		}
		built.segments = append(built.segments, s)
	}
	l.memory.add(key, built)
	return built, key, whole, nil
}

// shown is one tool as a list shows it.
type shown struct {
	tool  *catalog.Tool
	hints hints
}

func (s shown) name() string { return s.tool.Spec.Name }

// keyOf is the digest of all that the bytes of these tools follow from.
func keyOf(tools []shown) listKey {
	h := sha256.New()
	var b []byte
	for _, t := range tools {
		b = b[:0]
		for _, s := range []string{t.name(), t.tool.Spec.Digest()} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		b = append(b, byte(t.hints))
		_, _ = h.Write(b)
	}
	return listKey(h.Sum(nil))
}
