package regolint

import (
	"maps"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// outputSchema describes the documents of the policy that a decision is made
// of: whatever puts them together, the decision has to fit its schema. Of the
// rest of data it knows nothing.
var outputSchema = sync.OnceValue(func() *schema {
	raw := rawSchema("decision.schema.json")
	object := func(members map[string]any) map[string]any { return map[string]any{"properties": members} }
	def := func(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }
	human, policy, level := def("HumanInTheLoop"), def("EffectivePolicy"), def("RiskLevel")
	root := map[string]any{"$defs": raw["$defs"]}
	maps.Copy(root, object(map[string]any{"toolwarrant": object(map[string]any{
		"effective": object(map[string]any{"policy": policy}),
		"risk":      object(map[string]any{"level": level}),
		"hitl":      object(map[string]any{"requirement": human, "verdict": human}),
		"decision":  object(map[string]any{"effectivePolicy": policy, "humanInTheLoop": human, "riskLevel": level}),
	})}))
	return &schema{root, root}
})

// schemaOf is the schema of what a full reference leads to.
func schemaOf(ref ast.Ref) (*schema, bool) {
	switch {
	case ref.HasPrefix(ast.InputRootRef):
		return inputSchema(), true
	case ref.HasPrefix(ast.DefaultRootRef):
		return outputSchema(), true
	}
	return nil, false
}

// placeOf is what a full reference leads to, where that is known.
func placeOf(ref ast.Ref) ([]*schema, bool) {
	root, ok := schemaOf(ref)
	if !ok {
		return nil, false
	}
	return root.walk(ref[1:])
}

// choices of texts that the schema of the input leaves open, since documents
// may say anything; anything else counts as the first of them.
var openChoices = map[string][]string{"input.tool.humanInTheLoop.mode": {"REQUIRED", "DISABLED", "AUTO_APPROVE"}}

// listedAt are all values that a place can have.
func listedAt(ref ast.Ref) ([]ast.Value, bool) {
	if list, ok := openChoices[ref.String()]; ok {
		var out []ast.Value
		for _, s := range list {
			out = append(out, ast.String(s))
		}
		return out, true
	}
	at, sure := placeOf(ref)
	if !sure {
		return nil, false
	}
	return values(at)
}

// absent says which part of a full reference never comes, and what there is
// instead. A part that is not constant leads anywhere.
func absent(ref ast.Ref) (n int, known []string, found bool) {
	root, ok := schemaOf(ref)
	for n = 2; ok && n <= len(ref); n++ {
		at, sure := root.walk(ref[1:n])
		if !sure {
			return 0, nil, false
		}
		if len(at) == 0 {
			parent, _ := root.walk(ref[1 : n-1])
			return n - 1, members(parent), true
		}
	}
	return 0, nil, false
}

// kindOfSet is what the elements are of a place that Rego is given as a set.
func kindOfSet(at []*schema) string {
	for _, s := range at {
		switch ref, _ := s.at["$ref"].(string); ref {
		case "#/$defs/InputSet":
			return "texts"
		case "#/$defs/InputPorts":
			return "ports"
		}
	}
	return ""
}

// moment reports whether a place is a full moment in text.
func moment(at []*schema) bool {
	for _, s := range at {
		for _, one := range s.plain() {
			if p, _ := one.at["pattern"].(string); strings.HasPrefix(p, "^[0-9]{4}-[0-9]{2}-") {
				return true
			}
		}
	}
	return false
}
