package resolver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/toolwarrant/toolwarrant/fault"
)

// program is a compiled Rego policy with its prepared queries.
type program struct {
	compiler *ast.Compiler
	store    storage.Store

	decision rego.PreparedEvalQuery  // data.toolwarrant.decision
	chain    rego.PreparedEvalQuery  // data.toolwarrant.effective.chain
	plan     rego.PreparedEvalQuery  // data.toolwarrant.effective.plan
	visible  rego.PreparedEvalQuery  // data.toolwarrant.access.visible
	outlook  rego.PreparedEvalQuery  // the level and the policy of a decision, without the rest
	findings rego.PreparedEvalQuery  // data.toolwarrant.lint.findings
	refusals rego.PreparedEvalQuery  // data.toolwarrant.publish.refusals
	because  *rego.PreparedEvalQuery // data.toolwarrant.hitl.explanation, nil in a policy without

	// listReads is what the queries of a list could read of a tool.
	listReads reads
	// steady are the documents that are the same for each call of a tool.
	steady *steady

	rules map[string]Rule // METADATA label id -> rule
	said  map[string]Rule // an id that a rule or a setting gives, without METADATA of its own
}

// Rule is where a rule stands and what its METADATA says.
type Rule struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	File  string `json:"file"`
	Line  int    `json:"line"`
}

// Rules are the rules of the policy in force, by the id of their METADATA.
func (r *Resolver) Rules() map[string]Rule { return maps.Clone(r.active.Load().program.rules) }

func compileFault(name, format string, args ...any) *fault.Error {
	return fault.New(fault.PolicyUnavailable, "policy-compile", "the policy %s does not compile: %s", name, fmt.Sprintf(format, args...))
}

// parse reads modules. Each has to import rego.v2, whose negation does not
// hold for an input that is missing.
func parse(s *source, files map[string][]byte) (map[string]*ast.Module, error) {
	modules := make(map[string]*ast.Module, len(files))
	for _, file := range sortedKeys(files) {
		m, err := ast.ParseModuleWithOpts(file, string(files[file]), ast.ParserOptions{
			ProcessAnnotation: true, Capabilities: s.capabilities, RegoVersion: ast.RegoV1,
		})
		if err != nil {
			return nil, compileFault(s.name, "%v", err).Because(err)
		}
		if !importsV2(m) {
			return nil, compileFault(s.name, "%s lacks \"import rego.v2\"", file).At(file, "", 1, 1)
		}
		modules[file] = m
	}
	return modules, nil
}

func importsV2(m *ast.Module) bool {
	for _, i := range m.Imports {
		if i.Path.String() == "rego.v2" {
			return true
		}
	}
	return false
}

// loadData reads the settings into a store that hands out AST values.
func loadData(s *source) (storage.Store, error) {
	dec := json.NewDecoder(bytes.NewReader(s.data))
	dec.UseNumber()
	var data map[string]any
	if err := dec.Decode(&data); err != nil {
		return nil, compileFault(s.name, "%s", notJSON(s.data)).Because(err)
	}
	var doc struct {
		Toolwarrant struct {
			Settings json.RawMessage `json:"settings"`
		} `json:"toolwarrant"`
	}
	if err := json.Unmarshal(s.data, &doc); err != nil || doc.Toolwarrant.Settings == nil {
		return nil, compileFault(s.name, "rego/data.json has no object at toolwarrant.settings").Because(err)
	}
	return inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true)), nil
}

// compile makes the program of a policy.
func compile(ctx context.Context, s *source) (*program, error) {
	modules, err := parse(s, s.rego)
	if err != nil {
		return nil, err
	}
	store, err := loadData(s)
	if err != nil {
		return nil, err
	}
	p := &program{store: store, rules: map[string]Rule{}, said: map[string]Rule{}}
	if p.compiler, err = compileModules(ctx, s, store, modules); err != nil {
		return nil, err
	}
	if err := visibleIsPure(s.name, p.compiler); err != nil {
		return nil, err
	}
	if err := dropsWhatMayGo(s.name, p.compiler); err != nil {
		return nil, err
	}
	for query, prepared := range map[string]*rego.PreparedEvalQuery{
		"data.toolwarrant.decision":         &p.decision,
		"data.toolwarrant.effective.chain":  &p.chain,
		"data.toolwarrant.effective.plan":   &p.plan,
		"data.toolwarrant.access.visible":   &p.visible,
		"data.toolwarrant.lint.findings":    &p.findings,
		"data.toolwarrant.publish.refusals": &p.refusals,
	} {
		if len(p.compiler.GetRules(ast.MustParseRef(query))) == 0 {
			return nil, compileFault(s.name, "it has no rule %s", query)
		}
		if *prepared, err = p.prepare(ctx, s, query); err != nil {
			return nil, err
		}
	}
	for _, rule := range p.listed() {
		references(rule, p.listReads.note)
	}
	if p.outlook, err = p.prepare(ctx, s, outlookQuery(p.compiler)); err != nil {
		return nil, err
	}
	const because = "data.toolwarrant.hitl.explanation"
	if len(p.compiler.GetRules(ast.MustParseRef(because))) > 0 {
		q, err := p.prepare(ctx, s, because)
		if err != nil {
			return nil, err
		}
		p.because = &q
	}
	p.steady = steadyOf(p.compiler)
	p.index()
	p.indexSaid(modules, s.data)
	return p, nil
}

// listed are the rules that a list of tools could enter.
func (p *program) listed() []*ast.Rule {
	return reachable(p.compiler, append(outlookRules(p.compiler), "data.toolwarrant.effective.plan", "data.toolwarrant.access.visible")...)
}

// wide are those of listed that read what tells every tool from the others,
// once for each reference, by file and line.
func (p *program) wide() (out []Wide) {
	for _, rule := range p.listed() {
		references(rule, func(ref ast.Ref) {
			var r reads
			if r.note(ref); r&readsContent == 0 {
				return
			}
			text := append(ast.InputRootRef.Copy(), ref...).String()
			if w := (Wide{rule.Location.File, rule.Location.Row, text}); !slices.Contains(out, w) {
				out = append(out, w)
			}
		})
	}
	slices.SortFunc(out, func(a, b Wide) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Ref, b.Ref))
	})
	return out
}

func (p *program) prepare(ctx context.Context, s *source, query string) (rego.PreparedEvalQuery, error) {
	q, err := rego.New(rego.Query(query), rego.Compiler(p.compiler), rego.Store(p.store),
		rego.Capabilities(s.capabilities), rego.StrictBuiltinErrors(true)).PrepareForEval(ctx)
	if err != nil {
		return q, compileFault(s.name, "%v", err).Because(err)
	}
	return q, nil
}

// outlookRules give two parts of a decision: its level and its policy. A policy
// that is put together in another way has only the whole.
func outlookRules(c *ast.Compiler) []string {
	parts := []string{"data.toolwarrant.risk.level", "data.toolwarrant.effective.policy"}
	for _, rule := range parts {
		if len(c.GetRules(ast.MustParseRef(rule))) == 0 {
			return []string{"data.toolwarrant.decision"}
		}
	}
	return parts
}

func outlookQuery(c *ast.Compiler) string {
	rules := outlookRules(c)
	if len(rules) == 1 {
		return rules[0]
	}
	return `{"riskLevel": ` + rules[0] + `, "effectivePolicy": ` + rules[1] + `}`
}

func compileModules(ctx context.Context, s *source, store storage.Store, modules map[string]*ast.Module) (*ast.Compiler, error) {
	var compiler *ast.Compiler
	err := storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		compiler = ast.NewCompiler().WithCapabilities(s.capabilities).WithStrict(true).
			WithPathConflictsCheck(storage.NonEmpty(ctx, store, txn))
		compiler.Compile(modules)
		if compiler.Failed() {
			return compiler.Errors
		}
		return nil
	})
	if err != nil {
		return nil, compileFault(s.name, "%v", err).Because(err)
	}
	return compiler, nil
}

// index finds the rules by the id of their METADATA.
func (p *program) index() {
	for _, ref := range p.compiler.GetAnnotationSet().Flatten() {
		a := ref.Annotations
		if a == nil || a.Labels == nil {
			continue
		}
		id, ok := a.Labels["id"].(string)
		if !ok {
			continue
		}
		r := Rule{ID: id, Title: a.Title}
		if rule := ref.GetRule(); rule != nil && rule.Loc() != nil {
			r.File, r.Line = rule.Loc().File, rule.Loc().Row
		}
		if _, seen := p.rules[id]; !seen {
			p.rules[id] = r
		}
	}
}

// visibleIsPure refuses a policy whose list of tools would depend on what only
// a call has: everything that access.visible can reach is searched for the
// arguments, the approvals and the time.
func visibleIsPure(name string, c *ast.Compiler) error {
	for _, rule := range reachable(c, "data.toolwarrant.access.visible") {
		var offence ast.Ref
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			if ref.HasPrefix(ast.InputRootRef) && readsCall(ref) {
				offence = ref
			}
			return false
		})
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			if v, ok := t.Value.(ast.Var); ok && v.Equal(ast.InputRootDocument.Value) && offence == nil {
				offence = ast.InputRootRef
			}
			_, isRef := t.Value.(ast.Ref)
			return isRef && len(t.Value.(ast.Ref)) > 1
		})
		if offence != nil {
			at := rule.Loc()
			return fault.New(fault.PolicyUnavailable, "policy-compile",
				"the policy %s cannot be put into force: access.visible reaches %s at %s, which reads %s; a list of tools has no call, so that it may read the tool, the layers and the principal only",
				name, rule.Ref().GroundPrefix(), at, asWritten(offence)).At(at.File, "", at.Row, at.Col)
		}
	}
	return nil
}

// asWritten shows a reference without the names that the compiler made up.
func asWritten(ref ast.Ref) string {
	var out ast.Ref
	for _, t := range ref {
		if v, ok := t.Value.(ast.Var); ok && v.IsGenerated() {
			if len(out) < 2 {
				return ref[0].String() + " by a name that is computed"
			}
			break
		}
		out = append(out, t)
	}
	return out.String()
}

// reachable gives every rule that the evaluation of some rules could enter.
func reachable(c *ast.Compiler, names ...string) []*ast.Rule {
	var roots []*ast.Rule
	for _, name := range names {
		roots = append(roots, c.GetRules(ast.MustParseRef(name))...)
	}
	return reachableFrom(c, roots)
}

func reachableFrom(c *ast.Compiler, roots []*ast.Rule) (out []*ast.Rule) {
	queue := slices.Clone(roots)
	for seen := map[*ast.Rule]bool{}; len(queue) > 0; {
		rule := queue[0]
		queue = queue[1:]
		if seen[rule] {
			continue
		}
		seen[rule] = true
		out = append(out, rule)
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			if ref.HasPrefix(ast.DefaultRootRef) {
				queue = append(queue, c.GetRules(ref.ConstantPrefix())...)
				queue = append(queue, c.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true})...)
			}
			return false
		})
	}
	return out
}

// readsCall reports whether an input reference takes in what only a call has.
func readsCall(ref ast.Ref) bool {
	if len(ref) < 2 {
		return true
	}
	field, ok := ref[1].Value.(ast.String)
	if !ok {
		return true // input[x]: any field
	}
	switch string(field) {
	case "now", "approvals", "call":
		return true
	}
	return strings.TrimSpace(string(field)) == ""
}
