package regolint

import (
	"slices"
	"strconv"
	"strings"

	cueast "cuelang.org/go/cue/ast"
	cuejson "cuelang.org/go/encoding/json"
	"github.com/open-policy-agent/opa/v1/ast"
)

// selectors are the lists of the settings that the rules compare in full, with
// what to write instead of a wildcard.
var selectors = map[string]string{
	"access.rules":                    "leave the selector out to mean all of them",
	"hitl.requiredTools":              "add a demand in rego/hitl for a rule of wider reach",
	"hitl.requiredCategories":         "add a demand in rego/hitl for a rule of wider reach",
	"hitl.approvers.groups":           "an empty list means whoever the channel authenticates",
	"publish.trustedAuthors.groups":   "set publish.trustedFrom to the level from which trust is needed",
	"publish.trustedAuthors.subjects": "set publish.trustedFrom to the level from which trust is needed",
	"log.maskParams":                  "name each parameter",
	"log.resultContent":               "name each tool or category",
}

// settings looks at rego/data.json.
func (l *linter) settings() {
	expr, err := cuejson.Extract("rego/data.json", l.text.Data)
	if err != nil {
		return // the policy does not load, which TW201 says
	}
	l.setting(expr, nil)
}

// setting visits one value with the path to it.
func (l *linter) setting(e cueast.Expr, path []string) {
	switch v := e.(type) {
	case *cueast.StructLit:
		for _, d := range v.Elts {
			f, ok := d.(*cueast.Field)
			if !ok {
				continue
			}
			name, _, err := cueast.LabelName(f.Label)
			if err == nil {
				l.setting(f.Value, append(slices.Clone(path), name))
			}
		}
	case *cueast.ListLit:
		for i, e := range v.Elts {
			l.setting(e, append(slices.Clone(path), strconv.Itoa(i)))
		}
	case *cueast.BasicLit:
		text, err := strconv.Unquote(v.Value)
		if err == nil && len(path) > 2 {
			l.settingText(v, path, text)
		}
	}
}

func (l *linter) settingText(v *cueast.BasicLit, path []string, text string) {
	report := func(id, format string, args ...any) {
		l.at(id, "rego/data.json", "/"+strings.Join(path, "/"), v.Pos().Line(), v.Pos().Column(), format, args...)
	}
	setting := strings.Join(path[2:], ".") // below toolwarrant.settings
	list := setting[:max(0, strings.LastIndexByte(setting, '.'))]
	if member := list[strings.LastIndexByte(list, '.')+1:]; (member == "categories" || member == "requiredCategories") && !isAnything(text) {
		if why := l.strayCategory(text); why != "" {
			report("TW217", "the rule is for %s", why)
		}
	}
	if strings.HasPrefix(list, "access.rules.") {
		parts := strings.Split(list, ".")
		if parts[len(parts)-1] == "origins" {
			l.origin(report, text)
		}
		list = "access.rules"
	}
	advice, known := selectors[list]
	switch {
	case known && isAnything(text):
		report("TW213", "%q matches nothing here, names are compared in full; %s", text, advice)
	case setting == "hitl.floor" && text == "none":
		report("TW212", "without a floor a document of any level can turn the question to a human off")
	case setting == "publish.trustedFrom" && text == "none":
		report("TW212", "anybody may publish a tool of any level; name the level from which only trusted authors may")
	case !known && isAnything(text) && len(path) > 3 && slices.Contains(grants, plainName(path[len(path)-2])):
		report("TW212", "%q grants it to anything; name what is meant", text)
	}
}

// origin compares an origin of an access rule with those that there are.
func (l *linter) origin(report func(string, string, ...any), text string) {
	at, _ := inputSchema().walk(ast.MustParseRef("input.call.origin")[1:])
	all, ok := values(at)
	if !ok || isAnything(text) {
		return
	}
	var names []string
	for _, v := range all {
		if s, ok := v.(ast.String); ok {
			names = append(names, string(s))
		}
	}
	if !slices.Contains(names, text) {
		report("TW206", "no call has the origin %q%s", text, strings.Replace(meant(text, names), "it has", "there are", 1))
	}
}
