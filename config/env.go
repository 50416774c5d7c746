package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

const prefix = "TOOLWARRANT_"

// HomeVariable names the home folder. It is no key, since the home is where
// everything else is looked for.
const HomeVariable = prefix + "HOME"

// environment gives one layer per variable that is set to more than "",
// sections before the keys inside them. A TOOLWARRANT_ variable that is no
// key is an error: it was meant to be one.
func (s *schema) environment(env []string) ([]*node, error) {
	set := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !strings.HasPrefix(name, prefix) || name == HomeVariable {
			continue
		}
		if s.vars[name] == nil {
			return nil, fault.New(fault.Usage, "unknown-key", "the environment variable %s is no configuration key%s",
				name, suggest(name, append(sorted(s.vars), HomeVariable)))
		}
		set[name] = value // the last entry of a name counts, as for a process
	}
	names := sorted(set)
	slices.SortStableFunc(names, func(a, b string) int { return len(s.vars[a]) - len(s.vars[b]) })
	var layers []*node
	for _, name := range names {
		if set[name] == "" {
			continue
		}
		path := s.vars[name]
		n, err := fromText(s.lookup(path), place{origin: name}, set[name])
		if err != nil {
			return nil, err
		}
		layers = append(layers, nest(path, n))
	}
	return layers, nil
}

// flags gives one layer per flag, in the order of the keys.
func (s *schema) flags(flags map[string]any) ([]*node, error) {
	var layers []*node
	for _, name := range sorted(flags) {
		path := strings.Split(name, ".")
		k := s.lookup(path)
		at := place{origin: "option " + name}
		if k == nil {
			return nil, at.fault("unknown-key", path, "there is no key %q%s", name, s.didYouMean(path))
		}
		if flags[name] == nil {
			continue
		}
		var n *node
		var err error
		if word, ok := flags[name].(string); ok {
			n, err = fromText(k, at, word)
		} else {
			n, err = fromValue(at, path, flags[name])
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, nest(path, n))
	}
	return layers, nil
}

// fromText reads a value as variables and flags write it: a text as it is, a
// list as JSON or separated by commas, an object or a list of objects as JSON.
func fromText(k *key, at place, word string) (*node, error) {
	if k.kind == text {
		return &node{kind: text, scalar: word, at: at}, nil
	}
	trimmed := strings.TrimSpace(word)
	switch {
	case k.kind == truth:
		if trimmed == "true" || trimmed == "false" {
			return &node{kind: truth, scalar: trimmed == "true", at: at}, nil
		}
		return nil, at.fault("bad-value", k.path, "%s wants true or false, not %q", dotted(k.path), word)
	case k.kind == number:
		if json.Valid([]byte(trimmed)) && strings.Trim(trimmed, "-0123456789") == "" {
			return &node{kind: number, scalar: json.Number(trimmed), at: at}, nil
		}
		return nil, at.fault("bad-value", k.path, "%s wants a whole number, not %q", dotted(k.path), word)
	case k.kind == list && k.items.kind == text && !strings.HasPrefix(trimmed, "["):
		n := &node{kind: list, at: at}
		for part := range strings.SplitSeq(word, ",") {
			if part = strings.TrimSpace(part); part != "" {
				n.items = append(n.items, &node{kind: text, scalar: part, at: at})
			}
		}
		return n, nil
	}
	if len(trimmed) > MaxBytes {
		return nil, at.fault("too-large", k.path, "a value has at most %d bytes", MaxBytes)
	}
	return parseJSON(at, []byte(trimmed))
}

// fromValue takes a typed value of a flag.
func fromValue(at place, path []string, v any) (*node, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, at.fault("bad-value", path, "the value has no JSON form").Because(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return nil, at.fault("bad-value", path, "the value has no JSON form").Because(err)
	}
	return dropNulls(fromPlain(plain, at)), nil
}

// dropNulls takes nil slices and the like of Go values for absent ones.
func dropNulls(n *node) *node {
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.node.kind == null })
	for _, m := range n.members {
		dropNulls(m.node)
	}
	for _, item := range n.items {
		dropNulls(item)
	}
	return n
}

// nest puts n at path of an otherwise empty tree.
func nest(path []string, n *node) *node {
	for _, step := range slices.Backward(path) {
		n = &node{kind: object, at: n.at, members: []member{{step, n.at, n}}}
	}
	return n
}
