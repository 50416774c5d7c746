package parser

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// maxNodes bounds the values of a document, aliases expanded.
const maxNodes = 500_000

// YAML reads one YAML document into JSON. Scalars without quotes are those of
// the core schema of YAML 1.2: 010 is ten, 0o10 is eight, yes and 1_000 are
// text. Tags of that schema are followed, any other is refused; timestamps and
// binary values stay the text that they are; aliases and merge keys are expanded within bounds; keys are
// scalars, written as text, and appear once. Numbers that JSON lacks (.inf,
// .nan) are refused.
func YAML(ctx context.Context, text string) (out json.RawMessage, fail *worker.Failure) {
	if fail := checkInput(ctx, text); fail != nil {
		return nil, fail
	}
	// The library cannot be interrupted: when the call ends first, its work
	// on a bounded text is left behind.
	type result struct {
		out  json.RawMessage
		fail *worker.Failure
	}
	ready := make(chan result, 1)
	go func() {
		var r result
		defer func() { ready <- r }()
		defer guard(&r.out, &r.fail)
		r.out, r.fail = readYAML(ctx, text)
	}()
	select {
	case r := <-ready:
		return r.out, r.fail
	case <-ctx.Done():
		return nil, over(ctx)
	}
}

func readYAML(ctx context.Context, text string) (json.RawMessage, *worker.Failure) {
	// The library builds all nodes before there is anything to count, and
	// each needs one of these.
	marks := 0
	for i := range len(text) {
		switch text[i] {
		case ',', ':', '-', '?', '[', '{':
			marks++
		}
	}
	if marks > maxNodes {
		return nil, failed("too many values")
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return json.RawMessage("null"), nil
	} else if err != nil {
		return nil, failed("not valid YAML")
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, failed("more than one document")
	}
	y := yamlWriter{writer: writer{ctx: ctx}}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		y.node(doc.Content[0], 0)
	} else {
		y.raw("null")
	}
	return y.done()
}

type yamlWriter struct {
	writer
	nodes int
	above []*yaml.Node // collections being written: an alias to one is a cycle
}

func (y *yamlWriter) bad(n *yaml.Node, what string) {
	if y.fail == nil {
		y.fail = failed("line %d: %s", n.Line, what)
	}
}

func (y *yamlWriter) node(n *yaml.Node, depth int) {
	if y.fail != nil {
		return
	}
	if y.nodes++; y.nodes > maxNodes {
		y.bad(n, "too many values, aliases expanded")
		return
	}
	if depth > maxDepth {
		y.bad(n, "collections nest deeper than 256")
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		y.node(n.Alias, depth+1)
	case yaml.ScalarNode:
		y.scalar(n)
	case yaml.SequenceNode, yaml.MappingNode:
		for _, a := range y.above {
			if a == n {
				y.bad(n, "an alias contains itself")
				return
			}
		}
		y.above = append(y.above, n)
		if n.Kind == yaml.SequenceNode {
			y.sequence(n, depth)
		} else {
			y.mapping(n, depth)
		}
		y.above = y.above[:len(y.above)-1]
	default:
		y.bad(n, "cannot be read")
	}
}

func (y *yamlWriter) sequence(n *yaml.Node, depth int) {
	if n.ShortTag() != "!!seq" {
		y.bad(n, "the tag is refused: "+clip(n.Tag))
		return
	}
	y.raw("[")
	for i, e := range n.Content {
		if i > 0 {
			y.raw(",")
		}
		y.node(e, depth+1)
	}
	y.raw("]")
}

func (y *yamlWriter) mapping(n *yaml.Node, depth int) {
	if n.ShortTag() != "!!map" {
		y.bad(n, "the tag is refused: "+clip(n.Tag))
		return
	}
	members := y.members(n, depth)
	y.raw("{")
	for i, m := range members {
		if i > 0 {
			y.raw(",")
		}
		y.str(m.name)
		y.raw(":")
		y.node(m.value, depth+1)
	}
	y.raw("}")
}

type member struct {
	name  string
	value *yaml.Node
}

// members gives the members of a mapping with those that it merges. Its own
// members win over merged ones, and earlier merged ones over later.
func (y *yamlWriter) members(n *yaml.Node, depth int) []member {
	var own []member
	var merged []*yaml.Node
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && y.fail == nil; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && coreTag(k) == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode || !coreScalar(coreTag(k)) {
			y.bad(k, "a key that is not a plain value")
			return nil
		}
		if seen[k.Value] {
			y.bad(k, "a key appears twice: "+strconv.Quote(clip(k.Value)))
			return nil
		}
		seen[k.Value] = true
		own = append(own, member{k.Value, v})
	}
	for _, v := range merged {
		for _, m := range y.mergeSource(v, depth+1) {
			if !seen[m.name] {
				seen[m.name] = true
				own = append(own, m)
			}
		}
	}
	return own
}

// mergeSource reads the value of a merge key: a mapping, or a list of them.
func (y *yamlWriter) mergeSource(n *yaml.Node, depth int) []member {
	if y.nodes++; y.nodes > maxNodes || depth > maxDepth {
		y.bad(n, "merge keys expand too far")
	}
	if y.fail != nil {
		return nil
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return y.mergeSource(n.Alias, depth+1)
	case n.Kind == yaml.MappingNode && n.ShortTag() == "!!map":
		out := y.members(n, depth)
		y.nodes += len(out)
		return out
	case n.Kind == yaml.SequenceNode && n.ShortTag() == "!!seq":
		var out []member
		for _, e := range n.Content {
			out = append(out, y.mergeSource(e, depth+1)...)
		}
		return out
	}
	y.bad(n, "a merge key needs a mapping")
	return nil
}

func coreScalar(tag string) bool {
	switch tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!binary":
		return true
	}
	return false
}

func (y *yamlWriter) scalar(n *yaml.Node) {
	switch tag := coreTag(n); tag {
	case "!!str", "!!timestamp", "!!binary", "!!merge":
		y.str(n.Value)
	case "!!null":
		y.raw("null")
	case "!!bool":
		switch strings.ToLower(n.Value) {
		case "true", "false":
			y.raw(strings.ToLower(n.Value))
		default:
			y.bad(n, "the value does not fit its tag")
		}
	case "!!int", "!!float":
		number, problem := coreNumber(tag, n.Value)
		if problem != "" {
			y.bad(n, problem)
			return
		}
		y.raw(number)
	default:
		y.bad(n, "the tag is refused: "+clip(n.Tag))
	}
}
