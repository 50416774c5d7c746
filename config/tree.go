package config

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// maxDepth bounds the nesting of a document; the deepest key has four levels.
const maxDepth = 32

// kind is the JSON type of a node.
type kind string

const (
	object kind = "an object"
	list   kind = "a list"
	text   kind = "a text"
	number kind = "a number"
	truth  kind = "true or false"
	null   kind = "null"
)

// node is a JSON value that knows where it was written.
type node struct {
	kind    kind
	scalar  any // string, bool or json.Number
	items   []*node
	members []member // in their order, names are distinct
	at      place
}

type member struct {
	name string
	at   place // of the name
	node *node
}

// place is where a value was written: in a file, a variable or a flag.
type place struct {
	file         string
	line, column int
	origin       string // "TOOLWARRANT_ADDR" or "option addr" when not a file
}

// fault makes the error of a value at this place.
func (p place) fault(reason string, path []string, format string, args ...any) *fault.Error {
	if p.origin != "" {
		format, args = "%s: "+format, append([]any{p.origin}, args...)
	}
	return fault.New(fault.Usage, reason, format, args...).At(p.file, pointer(path), p.line, p.column)
}

func (n *node) member(name string) *member {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// find gives the node at path, or the closest one above it.
func (n *node) find(path []string) *node {
	for _, step := range path {
		switch n.kind {
		case object:
			m := n.member(step)
			if m == nil {
				return n
			}
			n = m.node
		case list:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.items) {
				return n
			}
			n = n.items[i]
		default:
			return n
		}
	}
	return n
}

// plain is the node as encoding/json and validators know values.
func (n *node) plain() any {
	switch n.kind {
	case object:
		m := make(map[string]any, len(n.members))
		for _, e := range n.members {
			m[e.name] = e.node.plain()
		}
		return m
	case list:
		l := make([]any, len(n.items))
		for i, e := range n.items {
			l[i] = e.plain()
		}
		return l
	case null:
		return nil
	}
	return n.scalar
}

// merge lays over on n: objects member by member, anything else replaces.
// Neither argument changes.
func merge(n, over *node) *node {
	if n.kind != object || over.kind != object {
		return over
	}
	out := &node{kind: object, at: over.at, members: append([]member(nil), n.members...)}
	for _, m := range over.members {
		if have := out.member(m.name); have != nil {
			have.node, have.at = merge(have.node, m.node), m.at
			continue
		}
		out.members = append(out.members, m)
	}
	return out
}

// fromPlain builds a node from a decoded JSON value; every part has one place.
func fromPlain(v any, at place) *node {
	n := &node{at: at, scalar: v}
	switch v := v.(type) {
	case map[string]any:
		n.kind, n.scalar = object, nil
		for _, name := range sorted(v) {
			n.members = append(n.members, member{name, at, fromPlain(v[name], at)})
		}
	case []any:
		n.kind, n.scalar = list, nil
		for _, e := range v {
			n.items = append(n.items, fromPlain(e, at))
		}
	case string:
		n.kind = text
	case bool:
		n.kind = truth
	case json.Number:
		n.kind = number
	default:
		n.kind, n.scalar = null, nil
	}
	return n
}

// pointer is the RFC 6901 form of path.
func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
