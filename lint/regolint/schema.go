package regolint

import (
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// inputSchema is the generated schema of the policy input.
var inputSchema = sync.OnceValue(func() *schema { root := rawSchema("input.json"); return &schema{root, root} })

// schema is one place of a JSON Schema, as far as the generated ones go.
type schema struct {
	root map[string]any
	at   map[string]any
}

// step goes to a member, or with known false to any element.
func (s *schema) step(name string, known bool) (next []*schema, sure bool) {
	for _, one := range s.plain() {
		properties, closed := one.at["properties"].(map[string]any)
		switch {
		case closed && known:
			if p, ok := properties[name].(map[string]any); ok {
				next = append(next, &schema{s.root, p})
			} else if one.at["additionalProperties"] != false {
				return nil, false
			}
		case one.at["items"] != nil:
			if p, ok := one.at["items"].(map[string]any); ok {
				next = append(next, &schema{s.root, p})
			}
		case one.at["additionalProperties"] != nil && !closed:
			if p, ok := one.at["additionalProperties"].(map[string]any); ok {
				next = append(next, &schema{s.root, p})
			}
		case one.at["enum"] != nil, one.scalar():
			// holds nothing
		default:
			return nil, false // anything
		}
	}
	return next, true
}

func (s *schema) scalar() bool {
	t, _ := s.at["type"].(string)
	return slices.Contains([]string{"string", "integer", "number", "boolean", "null"}, t)
}

// plain resolves references and choices.
func (s *schema) plain() []*schema {
	if ref, ok := s.at["$ref"].(string); ok {
		defs, _ := s.root["$defs"].(map[string]any)
		if def, ok := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any); ok {
			return (&schema{s.root, def}).plain()
		}
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		list, ok := s.at[choice].([]any)
		if !ok {
			continue
		}
		var out []*schema
		for _, one := range list {
			if m, ok := one.(map[string]any); ok {
				out = append(out, (&schema{s.root, m}).plain()...)
			}
		}
		return out
	}
	return []*schema{s}
}

// walk follows a reference below the root; sure is false where the schema
// leaves open what is there.
func (s *schema) walk(ref ast.Ref) (at []*schema, sure bool) {
	at = []*schema{s}
	for _, part := range ref {
		var next []*schema
		name, known := part.Value.(ast.String)
		for _, one := range at {
			more, sure := one.step(string(name), known)
			if !sure {
				return nil, false
			}
			next = append(next, more...)
		}
		at = next
	}
	return at, true
}

// members are the names that the places have.
func members(at []*schema) (out []string) {
	for _, s := range at {
		for _, one := range s.plain() {
			properties, _ := one.at["properties"].(map[string]any)
			for name := range properties {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// values are all that a place can be, where the schema lists them.
func values(at []*schema) (out []ast.Value, listed bool) {
	for _, s := range at {
		for _, one := range s.plain() {
			list, ok := one.at["enum"].([]any)
			if c, isConst := one.at["const"].(string); isConst {
				list, ok = []any{c}, true
			}
			if !ok {
				return nil, false
			}
			for _, v := range list {
				value, err := ast.InterfaceToValue(v)
				if err != nil {
					return nil, false
				}
				out = append(out, value)
			}
		}
	}
	return out, len(out) > 0
}
