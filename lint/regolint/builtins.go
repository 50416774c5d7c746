package regolint

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// instead says for the builtins that policies miss what to use.
var instead = map[string]string{
	"time.now_ns":        "the time of the call is input.now; time.parse_rfc3339_ns(input.now) gives nanoseconds",
	"http.send":          "bring what is needed as data: settings in rego/data.json, shipped as a bundle",
	"net.lookup_ip_addr": "addresses are checked when a connection is made; compare the names",
	"opa.runtime":        "settings belong into rego/data.json",
	"uuid.rfc4122":       "a decision has its id already",
}

// builtins finds calls of what policies do not have: what reads the world, so
// that a decision could not be made again from its record.
func (l *linter) builtins(m *module) {
	allowed := l.text.Builtins()
	known := map[string]bool{}
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		known[b.Name] = true
	}
	for _, rule := range m.ast.Rules {
		check := func(ref *ast.Term) {
			name := ref.String()
			if !known[name] || allowed[name] {
				return
			}
			hint := instead[name]
			switch {
			case hint != "":
			case strings.HasPrefix(name, "io.jwt."):
				hint = "who calls is established before the policy is asked; read input.principal"
			case strings.HasPrefix(name, "rand."):
				hint = "decide by what the input says"
			default:
				hint = "decide by input and data alone"
			}
			l.add("TW207", m, rule, ref.Location, "%s can give two answers to one question, so that the decision could not be made again, and policies do not have it; %s", name, hint)
		}
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if terms, ok := e.Terms.([]*ast.Term); ok && len(terms) > 0 {
				check(terms[0])
			}
			return false
		})
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			if call, ok := t.Value.(ast.Call); ok && len(call) > 0 {
				check(call[0])
			}
			return false
		})
	}
}

// operator is the name of the function that an expression calls, or "".
func operator(e *ast.Expr) string {
	if terms, ok := e.Terms.([]*ast.Term); ok && len(terms) > 0 {
		return terms[0].String()
	}
	return ""
}

// operands are the arguments of a call of one of some names with two
// arguments.
func operands(e *ast.Expr, names ...string) (a, b *ast.Term, ok bool) {
	terms, isCall := e.Terms.([]*ast.Term)
	if !isCall || len(terms) != 3 || !slices.Contains(names, terms[0].String()) {
		return nil, nil, false
	}
	return terms[1], terms[2], true
}
