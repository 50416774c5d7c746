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
	maxListBytes   = 64 << 20 // lists, each shared by all who see the same
	maxEntryBytes  = 32 << 20 // encoded tools, shared by the lists they are in
	// hintsAge is how long hints are good for. Who sees what depends on nothing
	// that moves by itself; the level of a tool may depend on the time of day.
	hintsAge = time.Minute
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
	lists    *sized[listKey, *List]
	entries  *sized[entryKey, entry]
}

// listKey is the digest of all that the bytes of a list follow from.
type listKey [sha256.Size]byte

// listOf is which list a caller sees.
type listOf struct {
	revision string
	key      listKey
	since    time.Time
}

// entryKey is all that the bytes of one entry follow from.
type entryKey struct {
	name, digest string
	hints        hints
}

func newLister(s shelf, listBytes, entryBytes int) *lister {
	callers, err := lru.New[string, listOf](maxListCallers)
	if err != nil { // only a size below one is an error
		panic(err)
	}
	return &lister{
		shelf: s, now: time.Now, building: make(chan struct{}, 1), callers: callers,
		lists: newSized[listKey, *List](listBytes), entries: newSized[entryKey, entry](entryBytes),
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
	return l.lists.get(of.key)
}

// build asks for the list of p. whole is false when a tool had to be left out
// that may be there the next time.
func (l *lister) build(ctx context.Context, p decision.Principal) (built *List, key listKey, whole bool, err error) {
	tools, err := l.shelf.Visible(ctx, p)
	if err != nil {
		return nil, key, false, err
	}
	keys := make([]entryKey, 0, len(tools))
	seen := make([]*catalog.Tool, 0, len(tools))
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
		keys = append(keys, entryKey{t.Spec.Name, t.Spec.Digest(), hintsOf(o)})
		seen = append(seen, t)
	}
	key = keyOf(keys)
	if found, ok := l.lists.get(key); ok {
		return found, key, whole, nil
	}
	entries := make([]entry, 0, len(keys))
	for i, k := range keys {
		e, ok := l.entries.get(k)
		if !ok {
			text, err := view(seen[i], k.hints).encode()
			if err != nil {
				return nil, key, false, err
			}
			e = entry{k.name, text}
			const rest = 256 // of the key and of what holds it
			l.entries.add(k, e, len(text)+rest)
		}
		entries = append(entries, e)
	}
	built = join(entries)
	l.lists.add(key, built, built.size())
	return built, key, whole, nil
}

func keyOf(keys []entryKey) listKey {
	h := sha256.New()
	var b []byte
	for _, k := range keys {
		b = b[:0]
		for _, s := range []string{k.name, k.digest} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		b = append(b, byte(k.hints))
		_, _ = h.Write(b)
	}
	return listKey(h.Sum(nil))
}
