package resolver

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/toolwarrant/toolwarrant/decision"
)

// reads says which parts of a listing's input an evaluation looked at. The
// layers are no part of it: answers are kept for one chain of layers.
type reads uint32

const (
	readsName reads = 1 << iota
	readsToolID
	readsCategory
	readsTags
	readsSource
	readsManifest
	readsPlaceholders
	readsOverrides
	readsSandbox
	readsContent // anything else of the tool
	readsSubject
	readsMethod
	readsClientID
	readsGroups
	readsScopes
	readsUntrusted
	readsNow // the answer is good for this moment only

	readsTool      = readsContent<<1 - 1
	readsPrincipal = readsUntrusted<<1 - readsSubject
	readsAll       = readsTool | readsPrincipal | readsNow
)

var toolReads = map[ast.Value]reads{
	ast.String("name"): readsName, ast.String("toolId"): readsToolID, ast.String("category"): readsCategory,
	ast.String("tags"): readsTags, ast.String("source"): readsSource, ast.String("manifestEnv"): readsManifest,
	ast.String("placeholders"): readsPlaceholders, ast.String("sandboxOverrides"): readsOverrides, ast.String("sandbox"): readsSandbox,
}

var principalReads = map[ast.Value]reads{
	ast.String("subject"): readsSubject, ast.String("method"): readsMethod, ast.String("clientId"): readsClientID,
	ast.String("groups"): readsGroups, ast.String("scopes"): readsScopes, ast.String("untrusted"): readsUntrusted,
}

// note adds what a reference into the input reads. What is not known by name
// counts as everything that it could be.
func (r *reads) note(ref ast.Ref) {
	field := func(of map[ast.Value]reads, other reads) reads {
		if len(ref) < 2 {
			return other
		}
		s, constant := ref[1].Value.(ast.String)
		if known, ok := of[s]; ok && constant {
			return known
		}
		return other
	}
	if len(ref) == 0 {
		*r |= readsAll
		return
	}
	switch ref[0].Value {
	case ast.String("tool"):
		*r |= field(toolReads, readsTool)
	case ast.String("principal"):
		*r |= field(principalReads, readsPrincipal)
	case ast.String("layers"), ast.String("folded"): // of the chain
	case ast.String("call"), ast.String("approvals"): // the same in each list
	default:
		*r |= readsAll
	}
}

// subject is one tool before one caller, as listings look at it.
type subject struct {
	tool      Tool
	principal decision.Principal
	chain     chainKey
	overrides string // written down once
}

func (s *subject) overridesText(base string) string {
	if s.overrides == "" {
		s.overrides = overridesTerm(s.tool.Spec.Overrides, base).String()
	}
	return s.overrides
}

// key names the values of what is read, and under which chain.
func (s *subject) key(r reads, base string) [sha256.Size]byte {
	var b []byte
	add := func(values ...string) {
		b = binary.AppendUvarint(b, uint64(len(values)))
		for _, v := range values {
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		}
	}
	set := func(values []string) {
		sorted := slices.Sorted(slices.Values(values))
		add(slices.Compact(sorted)...)
	}
	b = binary.AppendUvarint(b, uint64(r))
	add(s.chain.operator, s.chain.document)
	spec, p := s.tool.Spec, s.principal
	for _, part := range []struct {
		of    reads
		write func()
	}{
		{readsName | readsContent, func() { add(spec.Name) }},
		{readsToolID | readsContent, func() { add(spec.ToolID) }},
		{readsCategory, func() { add(spec.Category) }},
		{readsTags, func() { set(spec.Tags) }},
		{readsSource | readsContent, func() { add(s.tool.Source) }},
		{readsManifest | readsContent, func() { set(s.tool.ManifestEnv) }},
		{readsPlaceholders, func() { set(spec.Placeholders()) }},
		{readsOverrides, func() { add(s.overridesText(base)) }},
		{readsSandbox, func() { add(sandboxText(spec)) }},
		{readsContent, func() { add(spec.Digest()) }},
		{readsSubject, func() { add(p.Subject) }},
		{readsMethod, func() { add(p.Method) }},
		{readsClientID, func() { add(p.ClientID) }},
		{readsGroups, func() { set(p.Groups) }},
		{readsScopes, func() { set(p.Scopes) }},
	} {
		if r&part.of != 0 {
			part.write()
		}
	}
	if r&readsUntrusted != 0 && p.Untrusted {
		b = append(b, 1)
	}
	return sha256.Sum256(b)
}

// Bounds of what is remembered of one query.
const (
	maxShared   = 1 << 15
	maxReadSets = 16
	// tryReads is how many evaluations are watched before it has to pay.
	tryReads = 256
)

// shared remembers the answers of one query by what its evaluation read: an
// input that is equal there gets the same answer, whatever it is otherwise.
// So tools that ask for the same are evaluated once, and callers whom no rule
// tells apart get the answer of the first. It belongs to one policy revision.
type shared[V any] struct {
	full  reads                   // names the whole input
	also  reads                   // what an answer depends on beside its evaluations
	sets  atomic.Pointer[[]reads] // each way that evaluations have gone
	known *lru.Cache[[sha256.Size]byte, V]
	hits  atomic.Int64
	tries atomic.Int64
}

// newShared remembers answers whose input full names, and which depend on also
// besides what their evaluations read: constraints of the layers look at the
// category of a document, in CUE.
func newShared[V any](full, also reads) (*shared[V], error) {
	known, err := lru.New[[sha256.Size]byte, V](maxShared)
	s := &shared[V]{full: full, also: also, known: known}
	s.sets.Store(&[]reads{})
	return s, err
}

// answer gives what is remembered, or what ask gives. The options make an
// evaluation tell what it reads; ask hands them to each of its evaluations.
// An evaluation that is watched takes longer, so that a policy which tells all
// tools apart is not watched for long.
func (s *shared[V]) answer(of *subject, base string, ask func(...rego.EvalOption) (V, error)) (V, error) {
	for _, set := range *s.sets.Load() {
		if v, ok := s.known.Get(of.key(set, base)); ok {
			s.hits.Add(1)
			return v, nil
		}
	}
	r := s.full
	var options []rego.EvalOption
	if n := s.tries.Add(1); n <= tryReads || s.hits.Load() >= n {
		r = s.also
		options = watch(r.note)
	}
	v, err := ask(options...)
	if err == nil && r&readsNow == 0 && s.learn(r) {
		s.known.Add(of.key(r, base), v)
	}
	return v, err
}

// learn adds a set, and says whether there was place for it.
func (s *shared[V]) learn(r reads) bool {
	for {
		old := s.sets.Load()
		if slices.Contains(*old, r) {
			return true
		}
		if len(*old) >= maxReadSets {
			return false
		}
		grown := append(slices.Clone(*old), r)
		if s.sets.CompareAndSwap(old, &grown) {
			return true
		}
	}
}
