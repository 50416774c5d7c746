package resolver

import (
	"bytes"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"
)

// where finds the rule behind an id of an answer: the one whose METADATA
// names it, else the branch or the line of the settings that gives it.
func (p *program) where(id string) Rule {
	if r, ok := p.rules[id]; ok {
		return r
	}
	return p.said[id]
}

// settingID is an id in rego/data.json, such as that of an access rule.
var settingID = regexp.MustCompile(`"id"\s*:\s*"([^"\\]+)"`)

// indexSaid finds ids that have no METADATA: those of the branches of an else
// chain, which cannot have any, and those of rules that are settings.
func (p *program) indexSaid(modules map[string]*ast.Module, settings []byte) {
	for _, name := range sortedKeys(modules) {
		for _, rule := range modules[name].Rules {
			for branch := rule; branch != nil; branch = branch.Else {
				p.indexBranch(branch, p.titleOf(rule))
			}
		}
	}
	for _, m := range settingID.FindAllSubmatchIndex(settings, -1) {
		p.say(Rule{
			ID: string(settings[m[2]:m[3]]), Title: "a rule of the settings", File: "rego/data.json",
			Line: bytes.Count(settings[:m[2]], []byte("\n")) + 1,
		})
	}
}

func (p *program) indexBranch(branch *ast.Rule, title string) {
	if branch.Head.Value == nil || branch.Head.Loc() == nil {
		return
	}
	object, ok := branch.Head.Value.Value.(ast.Object)
	if !ok {
		return
	}
	id := object.Get(ast.StringTerm("ruleId"))
	if id == nil {
		return
	}
	if text, ok := id.Value.(ast.String); ok {
		p.say(Rule{ID: string(text), Title: title, File: branch.Head.Loc().File, Line: branch.Head.Loc().Row})
	}
}

func (p *program) say(r Rule) {
	if _, seen := p.said[r.ID]; !seen {
		p.said[r.ID] = r
	}
}

// titleOf is the title of the METADATA of a rule, or "".
func (p *program) titleOf(rule *ast.Rule) string {
	for _, a := range rule.Annotations {
		if a.Title != "" {
			return a.Title
		}
	}
	return ""
}
