// Package regolint finds what is wrong with a policy before it is put into
// force: references to what never comes, conditions that never hold, negation
// that fails open, grants without bounds, rules that nobody described or
// tested. It reads the syntax trees of Rego and CUE and the generated schema
// of the policy input, and evaluates nothing.
//
// Commands import it; it imports resolver, which reads policies, lint, whose
// findings and formats it has, and the embedded schemas. A finding here keeps
// no policy from being put into force: that is decided by the resolver alone.
package regolint

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Severities are the ids of this linter, which are added and never reused.
// Each has a page in docs/rules.
var severities = map[string]lint.Severity{
	"TW201": lint.Error,   // the policy cannot be put into force
	"TW202": lint.Error,   // a module without import rego.v2
	"TW203": lint.Error,   // a negation that fails open
	"TW204": lint.Error,   // a reference to what never comes
	"TW205": lint.Error,   // a condition that never holds
	"TW206": lint.Error,   // a comparison with a value that never comes
	"TW207": lint.Error,   // a builtin that gives two answers to one question
	"TW208": lint.Warning, // a rule without METADATA
	"TW209": lint.Warning, // an id that no METADATA has
	"TW210": lint.Warning, // a rule without a test
	"TW211": lint.Error,   // a rule that lets everything through
	"TW212": lint.Warning, // a wildcard grant
	"TW213": lint.Error,   // a selector that matches nothing
	"TW214": lint.Warning, // an inequality in a loop
	"TW215": lint.Error,   // a decision of another shape
	"TW216": lint.Warning, // an acceptance that accepts nothing
	"TW217": lint.Warning, // a category outside the vocabulary
	"TW218": lint.Warning, // a layer that gives what a constraint forbids
	"TW219": lint.Warning, // a rule that lists cannot share
}

// Options say where the policy lies and what the installation is.
type Options struct {
	Policy     resolver.Options
	Categories []string // the vocabulary of categories; nil leaves TW217 out
	Version    string   // of this program, for reports
}

// Run lints one policy. The error is one of a policy that cannot be read at
// all; one that does not compile has findings.
func Run(ctx context.Context, o Options) (lint.Report, error) {
	text, err := resolver.ReadText(ctx, o.Policy)
	if err != nil {
		return lint.Report{}, err
	}
	l := &linter{text: text, categories: o.Categories}
	l.parse()
	for _, m := range l.modules {
		l.imports(m)
		l.negations(m)
		l.builtins(m)
		l.loops(m)
		l.never(m)
		if !m.test {
			l.metadata(m)
			l.opens(m)
		}
	}
	l.tests()
	l.types()
	l.dataRefs()
	l.settings()
	l.layers()
	l.bindings()
	l.activation(ctx, o.Policy.Operator)
	found, accepted := l.accept()
	return lint.Collect(found, accepted, l.texts(), o.Version), nil
}

// linter is one run over one policy.
type linter struct {
	text       *resolver.Text
	categories []string
	modules    []*module
	broken     bool // a module or the settings are missing, so that references across modules say nothing
	out        []found
	defined    *tree // packages, rules and settings
}

// found is a finding with the rule around it.
type found struct {
	lint.Finding
	module *module
	rule   *ast.Rule
}

// add reports a finding at a place of a module.
func (l *linter) add(id string, m *module, rule *ast.Rule, loc *ast.Location, format string, args ...any) {
	f := lint.Finding{RuleID: id, Severity: severities[id], Message: fmt.Sprintf(format, args...), File: l.shown(m.file)}
	if loc != nil {
		f.Line, f.Column = loc.Row, max(1, l.column(m.file, loc.Row, loc.Col))
	}
	if slices.ContainsFunc(l.out, func(o found) bool { return o.Finding == f }) {
		return
	}
	l.out = append(l.out, found{f, m, rule})
}

// at reports a finding in a file that is no module.
func (l *linter) at(id, file, pointer string, line, column int, format string, args ...any) {
	l.out = append(l.out, found{Finding: lint.Finding{RuleID: id, Severity: severities[id], Message: fmt.Sprintf(format, args...),
		File: l.shown(file), Pointer: pointer, Line: line, Column: column}})
}

// has reports whether one of some ids was found.
func (l *linter) has(ids ...string) bool {
	return slices.ContainsFunc(l.out, func(f found) bool { return slices.Contains(ids, f.RuleID) })
}

// shown is how a file is named: a path that an editor can open, where the
// policy is a folder.
func (l *linter) shown(file string) string {
	if l.text.Dir == "" {
		return file
	}
	return filepath.Join(l.text.Dir, filepath.FromSlash(file))
}

// files are all files of the policy.
func (l *linter) files() map[string][]byte {
	all := map[string][]byte{"rego/data.json": l.text.Data}
	for _, part := range []map[string][]byte{l.text.Rego, l.text.CUE, l.text.Tests} {
		maps.Copy(all, part)
	}
	return all
}

func (l *linter) texts() map[string][]byte {
	out := map[string][]byte{}
	for name, text := range l.files() {
		out[l.shown(name)] = text
	}
	return out
}

// column turns a column in characters, as OPA counts, into one in bytes.
func (l *linter) column(file string, row, col int) int {
	text := l.text.Rego[file]
	if text == nil {
		text = l.text.Tests[file]
	}
	lines := strings.SplitN(string(text), "\n", row+1)
	if row < 1 || row > len(lines) {
		return col
	}
	line := lines[row-1]
	for at, n := 0, 1; at < len(line); n++ {
		if n == col {
			return at + 1
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return col
}
