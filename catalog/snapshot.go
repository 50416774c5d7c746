package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// snapshot is the whole content of a catalog at one moment. It is immutable
// but for the remembered answers about missing requirements.
type snapshot struct {
	entries  []*entry // by name, then by order of loading
	tools    []*Tool  // the same, as List gives them when nothing is missing
	byName   map[string]*entry
	byID     map[string]*entry
	findings []*fault.Error
	// overrides are the kept choices that the configuration overrides.
	overrides []Override
	digest    string
	// dynamic are the entries whose state depends on the secrets of the moment.
	dynamic []*entry
}

// entry is one tool with what only the catalog knows about it.
type entry struct {
	tool    *Tool
	exposed bool
	why     string // why an ACTIVE tool is exposed or not, or one in any state hidden

	lacking atomic.Pointer[Tool] // the last MISSING_REQUIREMENTS variant
}

// build joins documents, state and rules. Its outcome depends on nothing
// else, and on the order of docs only where two of them want the same name.
func build(b *bundle, docs []document, st state, rules chooser, found []*fault.Error) *snapshot {
	s := &snapshot{byName: map[string]*entry{}, byID: map[string]*entry{}}
	s.findings = append(append(s.findings, b.findings...), found...)
	if rules.lost != nil {
		s.findings = append(s.findings, rules.lost)
	}
	reserved := map[string]string{} // folded name or id of a bundled tool -> its name
	for _, name := range b.names {
		reserved[fold(name)] = name
	}
	for i := range b.docs {
		d := &b.docs[i]
		reserved[fold(d.spec.Name)], reserved[fold(d.spec.ToolID)] = d.spec.Name, d.spec.Name
		s.add(d, bundledEntry(d, st, rules))
	}
	active := map[string]*document{} // who serves under a folded name
	for i := range docs {
		d := &docs[i]
		if why := squat(d, reserved, s.byID); why != "" {
			s.findings = append(s.findings, conflict(d, why))
			continue
		}
		e := userEntry(d, st, rules)
		if wrong := NameServable(d.spec); wrong != nil {
			s.findings = append(s.findings, wrong)
		}
		if e.tool.State == StateActive {
			if first, taken := active[fold(d.spec.Name)]; taken {
				why := fmt.Sprintf("the name %q is taken by the tool in %s; rename one or make it a draft", d.spec.Name, first.path)
				s.findings = append(s.findings, conflict(d, why))
				e.tool.State, e.tool.Why, e.exposed = StateDraft, why, false
			} else {
				active[fold(d.spec.Name)] = d
			}
		}
		s.add(d, e)
	}
	s.finish()
	s.overrides = rules.overrides(s.entries)
	return s
}

// squat says why a user tool may not be in the catalog at all: it claims a
// name or an id by which another tool is known.
func squat(d *document, reserved map[string]string, byID map[string]*entry) string {
	if owner, ok := reserved[fold(d.spec.Name)]; ok {
		return fmt.Sprintf("the name %q belongs to the bundled tool %q; choose another", d.spec.Name, owner)
	}
	if owner, ok := reserved[fold(d.spec.ToolID)]; ok {
		return fmt.Sprintf("the toolId %q belongs to the bundled tool %q; a copy needs an id of its own", d.spec.ToolID, owner)
	}
	if other, ok := byID[d.spec.ToolID]; ok {
		return fmt.Sprintf("the toolId %q belongs to the tool in %s; a copy needs an id of its own", d.spec.ToolID, other.tool.Path)
	}
	return ""
}

func conflict(d *document, why string) *fault.Error {
	return fault.New(fault.SpecInvariant, "name-conflict", "%s", why).At(d.path, "", 0, 0)
}

// fold is the form in which names are compared: two that a person would
// confuse by case are one.
func fold(s string) string { return strings.ToLower(s) }

func bundledEntry(d *document, st state, rules chooser) *entry {
	t := &Tool{Spec: d.spec, Source: d.source, State: StateDraft, Env: d.env, Approval: st.Approvals[d.spec.ToolID].Mode, vouched: d.listed}
	e := &entry{tool: t}
	chosen, hidden, why := rules.bundled(d)
	t.Hidden = hidden
	switch {
	case d.tampered != "":
		t.State, t.Why = StateRevoked, "it is not the tool that this build vouches for: "+d.tampered
	case d.spec.Draft:
		t.Why = "its document says draft"
	case st.Tools[d.spec.ToolID].Exposure == ExposureDraft:
		t.Why = takenOut(d)
	case !chosen:
		t.Why = why
	default:
		t.State, e.exposed = StateActive, !hidden
	}
	e.why = why
	return e
}

func userEntry(d *document, st state, rules chooser) *entry {
	broken := d.broken
	if wrong := NameServable(d.spec); wrong != nil {
		broken = append(slices.Clip(broken), wrong)
	}
	t := &Tool{Spec: d.spec, Source: d.source, Path: d.path, State: StateDraft, Findings: broken, vouched: d.spec.Digest()}
	e := &entry{tool: t}
	served := "it passed its test here"
	if d.trusted {
		served = "the operator trusts its folder"
	}
	t.Hidden, e.why = rules.user(d, served)
	pass, passed := st.Tools[d.spec.ToolID]
	here, beside := pass.PassedDigest == d.spec.Digest(), d.passed == d.spec.Digest()
	switch {
	case len(broken) > 0:
		t.Why = fmt.Sprintf("its document cannot run: %s: %s", broken[0].Reason, broken[0].Message)
	case d.spec.Draft:
		t.Why = "its document says draft; " + howToPublish(d)
	case pass.Exposure == ExposureDraft:
		t.Why = takenOut(d)
	case d.trusted, here, beside:
		t.State, e.exposed = StateActive, !t.Hidden
	case passed || d.passed != "":
		t.Why = "it was changed after it passed its test; " + howToPublish(d)
	default:
		t.Why = "it has not passed its test here; " + howToPublish(d)
	}
	return e
}

func takenOut(d *document) string {
	return "it was taken out of service; publish it with: toolwarrant catalog publish " + d.spec.Name
}

// howToPublish names the command. A tool of an operator's folder is known by
// its path to every command, by its name only to those that read the folder.
func howToPublish(d *document) string {
	if d.home {
		return "publish it with: toolwarrant catalog publish " + d.spec.Name
	}
	return "publish it with: toolwarrant test " + byPath(d.path) + " --write"
}

// byPath is a path that a command line does not take for a name.
func byPath(path string) string {
	if strings.ContainsAny(path, `/\`) || strings.HasSuffix(path, ".json") {
		return path
	}
	return "./" + path
}

// add files e under its name and id. A name leads to the tool that is ACTIVE,
// else to the first one.
func (s *snapshot) add(d *document, e *entry) {
	s.entries = append(s.entries, e)
	s.byID[d.spec.ToolID] = e
	if first, ok := s.byName[d.spec.Name]; !ok || first.tool.State != StateActive && e.tool.State == StateActive {
		s.byName[d.spec.Name] = e
	}
}

// finish sorts, and names the content by a digest.
func (s *snapshot) finish() {
	slices.SortStableFunc(s.entries, func(a, b *entry) int { return cmp.Compare(a.tool.Spec.Name, b.tool.Spec.Name) })
	lines := make([][8]string, len(s.entries))
	s.tools = make([]*Tool, len(s.entries))
	for i, e := range s.entries {
		t := e.tool
		s.tools[i] = t
		if t.State == StateActive && len(t.Spec.Placeholders()) > 0 {
			s.dynamic = append(s.dynamic, e)
		}
		lines[i] = [8]string{t.Spec.ToolID, t.Spec.Name, t.Spec.Digest(), string(t.Source), string(t.State),
			fmt.Sprint(e.exposed, t.Hidden), t.Why + e.why, t.Approval}
	}
	sum, err := digest.JSON(lines)
	if err != nil {
		// Only text that is not UTF-8 has no canonical form.
		sum = digest.Bytes([]byte(fmt.Sprintf("%q", lines)))
	}
	s.digest = sum
}
