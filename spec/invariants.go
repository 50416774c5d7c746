package spec

import (
	"regexp"
	"strings"
)

// invariants checks what the JSON Schema cannot say: the rules between fields
// of sections 6, 7, 8 and 10. That allow and deny lists do not overlap depends
// on the baseline and is the resolver's to say.
func (p *parsing) invariants(s *Spec) {
	if id := p.root.get("toolId"); id != nil && id.kind == '"' && id.str == "" {
		p.invariant("empty-tool-id", "/toolId", "the toolId is empty; write one, or leave the member out to have it derived from the name")
	}
	p.code(s)
	p.params(s)
	p.statics(s)
	p.classes()
	p.version()
	p.timestamps()
	p.resultSchema(s)
}

func (p *parsing) code(s *Spec) {
	reason, msg := "", ""
	switch {
	case strings.TrimSpace(s.Code) == "":
		reason, msg = "empty-code", "the code is empty; the tool would do nothing"
	case len(s.Code) > MaxCodeBytes:
		reason, msg = "code-too-large", "the code is larger than 64 KiB; move data out of it or split the tool"
	default:
		return
	}
	p.errs = append(p.errs, s.codeFault(reason, msg, 1, 1, p.root))
}

func (p *parsing) params(s *Spec) {
	seen := map[string]bool{}
	for i, prm := range s.Params {
		at := index("/params", i)
		if seen[prm.Name] {
			p.invariant("duplicate-param", at+"/name", "two parameters are named %s; names must differ", quote(prm.Name))
		}
		seen[prm.Name] = true
		if Injected(prm.Name) {
			p.invariant("reserved-name", at+"/name", "%s is a name of the runtime; rename the parameter", quote(prm.Name))
		}
		if !prm.Required {
			continue
		}
		if prm.TestValue == nil {
			p.invariant("missing-test-value", at+"/testValue", "parameter %s is required and has no testValue; add the sample that the Local Pass runs with", quote(prm.Name))
			continue
		}
		v, why := coerceText(prm.Type, *prm.TestValue)
		if why == "" && v == nil {
			why = "it is empty"
		}
		if why != "" {
			p.invariant("bad-test-value", at+"/testValue", "the testValue of parameter %s is not %s: %s", quote(prm.Name), article(prm.Type), why)
		}
	}
}

func (p *parsing) statics(s *Spec) {
	params := map[string]bool{}
	for _, prm := range s.Params {
		params[prm.Name] = true
	}
	// The schema made every entry an object of one member, so that the entries
	// of the list and the decoded variables run in step.
	for i, sv := range s.StaticVariables {
		at := join(index("/staticVariables", i), sv.Key)
		switch {
		case Injected(sv.Key):
			p.invariant("reserved-name", at, "%s is a name of the runtime; rename the static variable", quote(sv.Key))
		case !Identifier(sv.Key):
			p.invariant("bad-static-name", at, "%s is not a JavaScript identifier, so the code could not read it; rename the static variable", quote(sv.Key))
		case params[sv.Key]:
			p.invariant("name-collision", at, "%s is a parameter and a static variable; the model could set a server-side value: rename one", quote(sv.Key))
		}
		if bad := badPlaceholder(sv.Value); bad != "" {
			p.invariant("bad-placeholder", at, "%s is not a placeholder; write ${NAME} with upper-case letters, digits and underscores, and close the brace", quote(bad))
		}
	}
}

func (p *parsing) classes() {
	o := p.root.get("sandboxOverrides")
	for _, list := range []string{"addAllowClasses", "removeAllowClasses", "addDenyClasses", "removeDenyClasses"} {
		for i, cls := range o.get(list).texts() {
			if !classPattern(cls) {
				p.invariant("class-pattern", index("/sandboxOverrides/"+list, i),
					"%s is not a class name; write one class (java.io.File) or the classes of a package (java.io.*)", quote(cls))
			}
		}
	}
}

// Any minor version of the specification's first major one is read: minor
// versions only add (section 13).
var readableVersion = regexp.MustCompile(`^1(\.(0|[1-9][0-9]*)){1,2}$`)

func (p *parsing) version() {
	v := p.root.get("toolSafety").get("version")
	if v == nil || v.kind != '"' || readableVersion.MatchString(v.str) {
		return
	}
	p.invariant("unsupported-version", "/toolSafety/version", "version %s of the Safe Tool Spec is not supported; this program reads 1.x", quote(v.str))
}

// timestamps must survive a reader that keeps numbers as 64-bit floats.
func (p *parsing) timestamps() {
	for _, name := range []string{"createTimestamp", "updateTimestamp"} {
		if t := p.root.get(name); t != nil && (t.num > maxSafe || t.num < 0) {
			p.invariant("timestamp-range", "/"+name, "the timestamp is not between 0 and 2^53; write milliseconds since 1970")
		}
	}
}

// article names a type in a sentence.
func article(t ParamType) string {
	if t == Integer || t == Object || t == Array {
		return "an " + string(t)
	}
	return "a " + string(t)
}
