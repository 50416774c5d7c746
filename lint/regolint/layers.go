package regolint

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"golang.org/x/net/publicsuffix"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/suggest"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// layers looks at what baseline and profiles give to every tool below them,
// before any tool has asked for anything.
func (l *linter) layers() {
	stated, err := l.text.Layers()
	if err != nil {
		l.refused(err)
		return
	}
	for _, s := range stated {
		who := "every tool"
		if s.Name != "baseline" {
			who = "every tool under the profile " + s.Name
		}
		report := func(format string, path []string, args ...any) {
			file, line, column := s.Place(path...)
			l.at("TW212", file, "", line, column, format, append([]any{who}, args...)...)
		}
		mode := []string{"network", "mode"}
		switch s.Mode {
		case "open":
			report("%s has network mode \"open\", which drops the check of addresses; let a tool ask for it, under a constraint", mode)
		case "strict":
			report("%s may talk to every public host without having asked; state \"blocked\" and let a tool ask", mode)
		}
		if i := slices.IndexFunc(s.Hosts, isAnything); i >= 0 {
			report("%s may talk to every public host through %q; name the hosts", []string{"network", "hosts"}, s.Hosts[i])
		}
		for _, host := range s.Hosts {
			if publicSuffix(host) {
				report("%s may talk to whoever gets a name below %q, which is open to everybody; name the hosts", []string{"network", "hosts"}, host)
			}
		}
		if s.FileWrite {
			report("%s may write files without having asked; leave fileWrite out and let a tool ask", []string{"fileWrite"})
		}
		for _, class := range s.AllowClasses {
			if wideClass(class) {
				report("%s may look up whatever lies below %q; name the packages", []string{"allowClasses"}, class)
			}
		}
		for _, u := range s.Unmeetable() {
			file, line, column := s.Place(strings.Split(u.Path, ".")...)
			l.at("TW218", file, "", line, column, "%s is rejected unless it asks otherwise: %s", who, u.Message)
		}
		if s.Name == "baseline" && len(s.DenyClasses) == 0 {
			report("%s is denied no class; a deny list keeps the ways out of the sandbox closed", []string{"denyClasses"})
		}
	}
}

// bindings looks at the categories that bindings name. An error of the layers
// was reported with them.
func (l *linter) bindings() {
	bound, _ := l.text.Bindings()
	for _, b := range bound {
		if why := l.strayCategory(b.Category); why != "" {
			l.at("TW217", b.File, "", b.Line, 1, "the binding to the profile %s is for %s", b.Profile, why)
		}
	}
}

// strayCategory says that a category is not in the vocabulary, or "".
// Documents may have others: a catalog of one's own can be what is meant.
func (l *linter) strayCategory(category string) string {
	if len(l.categories) == 0 || slices.Contains(l.categories, category) {
		return ""
	}
	for _, known := range l.categories {
		if strings.EqualFold(known, category) {
			return strconv.Quote(category) + ", and categories are compared in full; did you mean " + strconv.Quote(known) + "?"
		}
	}
	why := "the category " + strconv.Quote(category) + ", which the vocabulary does not have"
	if near := suggest.Nearest(category, l.categories); near != "" {
		why += "; did you mean " + strconv.Quote(near) + "?"
	}
	return why
}

// publicSuffix reports whether a pattern is about all names below a suffix
// under which anybody can have one: "*.com", "*.co.uk", "*.github.io".
func publicSuffix(pattern string) bool {
	stem, ok := strings.CutPrefix(strings.ToLower(strings.TrimSuffix(pattern, ".")), "*.")
	if !ok || stem == "" {
		return false
	}
	// A name of one label that the list lacks, such as "internal", is of a
	// network of one's own.
	suffix, listed := publicsuffix.PublicSuffix(stem)
	return suffix == stem && (listed || strings.Contains(suffix, "."))
}

// wideClass is a pattern for a whole vendor: "java.*", "org.*".
func wideClass(pattern string) bool {
	stem, ok := strings.CutSuffix(pattern, ".*")
	return ok && !strings.Contains(stem, ".")
}

// activation asks the resolver, which knows what no rule here knows: what
// access.visible may read, which entry points there have to be. It is asked
// last, since other findings say the same and more.
func (l *linter) activation(ctx context.Context, o resolver.Operator) {
	if l.broken || l.has("TW201", "TW202", "TW203", "TW204", "TW207") {
		return
	}
	wide, err := l.text.Compiles(ctx, o)
	if err != nil {
		l.refused(err)
	}
	for _, w := range wide {
		l.wide(w)
	}
}

// wide reports a rule that lists cannot share. The compiler gives its place,
// and the rule as it was written is what METADATA belongs to.
func (l *linter) wide(w resolver.Wide) {
	i := slices.IndexFunc(l.modules, func(m *module) bool { return m.file == w.File })
	if i < 0 {
		return
	}
	m := l.modules[i]
	var rule *ast.Rule // the last one that begins at the line or above it
	for _, r := range m.ast.Rules {
		if r.Location.Row <= w.Line && (rule == nil || r.Location.Row > rule.Location.Row) {
			rule = r
		}
	}
	l.add("TW219", m, rule, &ast.Location{Row: w.Line, Col: 1},
		"a list of tools enters this rule once for each of them, as %s is another for every tool; name the part that is meant, as in input.tool.category", w.Ref)
}

// position is the place that a message of the resolver names.
var position = regexp.MustCompile(`((?:rego|cue|policy_test)/[^\s:]+):(\d+)(?::(\d+))?`)

// refused makes a finding of why the policy cannot be put into force.
func (l *linter) refused(err error) {
	message, file, line, column := err.Error(), "rego/data.json", 0, 0
	var f *fault.Error
	if errors.As(err, &f) {
		message = f.Message
		if f.File != "" {
			file, line, column = f.File, f.Line, f.Column
		}
	}
	if m := position.FindStringSubmatch(message); m != nil && line == 0 {
		if _, ours := l.files()[m[1]]; ours {
			file = m[1]
			line, _ = strconv.Atoi(m[2])
			if column, _ = strconv.Atoi(m[3]); column == 0 {
				column = 1
			}
			if _, rest, ok := strings.Cut(message, m[0]+": "); ok {
				message = rest
			}
		}
	}
	l.at("TW201", file, "", line, column, "%s", firstLine(message))
}
