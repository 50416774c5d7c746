package lint

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/spec"
)

// rule is one check of a valid document. It reports pointers relative to the
// document. Ids are stable: added, never reused.
type rule struct {
	id       string
	severity Severity
	check    func(s *spec.Spec, report func(pointer, message string))
}

// rules is read only. TW106 and TW107 compare documents; see lint.go. What a
// policy may judge, the approval mode and the network for example, is Rego
// (package toolwarrant.lint), not here.
var rules = []rule{
	{"TW102", Error, runtimeLacks},
	{"TW103", Warning, paramIdentifier},
	{"TW108", Error, tooManyTags},
	{"TW109", Warning, nearMiss},
	{"TW110", Warning, replacedVariable},
	{"TW111", Error, hostForm},
	{"TW112", Warning, optionalTestValue},
	{"TW113", Warning, dottedPrompt},
	{"TW114", Warning, promptWithoutArgs},
	{"TW115", Warning, nameForm},
}

// TW102: the stored posture asks for what this runtime lacks.
func runtimeLacks(s *spec.Spec, report func(string, string)) {
	for _, e := range s.CheckRuntime(spec.ThisRuntime()) {
		report(strings.TrimPrefix(e.Pointer, s.Pointer()), e.Message)
	}
}

// TW103: such a parameter is no variable of the code.
func paramIdentifier(s *spec.Spec, report func(string, string)) {
	for i, p := range s.Params {
		if !spec.Identifier(p.Name) {
			report("/params/"+strconv.Itoa(i)+"/name", quote(p.Name)+" is not a JavaScript identifier; the code reads it as args["+quote(p.Name)+"]")
		}
	}
}

// TW108: at most two cohort labels (section 9.2).
func tooManyTags(s *spec.Spec, report func(string, string)) {
	if len(s.Tags) > 2 {
		report("/tags/2", fmt.Sprintf("a tool has at most 2 tags, this one has %d", len(s.Tags)))
	}
}

// TW109: an unknown member is kept and ignored, so that a typing error in a
// known one would go unnoticed.
func nearMiss(s *spec.Spec, report func(string, string)) {
	for _, f := range s.Extra {
		if known := spec.NearMiss(f.Name); known != "" {
			report("/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Name), "the member "+quote(f.Name)+" is unknown and has no effect; did you mean "+quote(known)+"?")
		}
	}
}

// TW110: legal (section 7.1), and most often a mistake.
func replacedVariable(s *spec.Spec, report func(string, string)) {
	last := map[string]int{}
	for i, sv := range s.StaticVariables {
		last[sv.Key] = i
	}
	for i, sv := range s.StaticVariables {
		if last[sv.Key] != i {
			report("/staticVariables/"+strconv.Itoa(i), "a later entry replaces the static variable "+quote(sv.Key))
		}
	}
}

// TW111: an entry that is no host name never matches anything.
func hostForm(s *spec.Spec, report func(string, string)) {
	if s.Overrides == nil {
		return
	}
	for i, h := range s.Overrides.HostsAllow {
		if t := strings.TrimSpace(h); t != h && t != "" {
			report("/sandboxOverrides/hostsAllow/"+strconv.Itoa(i), quote(h)+" has white space around it and matches no host; write "+quote(t)+" if that is meant")
		} else if !hostPattern(h) {
			report("/sandboxOverrides/hostsAllow/"+strconv.Itoa(i), quote(h)+" is not a host; write api.example.com, *.example.com or * without scheme and path")
		}
	}
}

// hostPattern accepts "*", a name, "*." and a name, an address, and any of the
// latter with a port.
func hostPattern(h string) bool {
	if h == "*" {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return true
	}
	if _, err := netip.ParseAddrPort(h); err == nil {
		return true
	}
	if name, port, ok := strings.Cut(h, ":"); ok {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		h = name
	}
	h = strings.TrimSuffix(strings.TrimPrefix(h, "*."), ".")
	for label := range strings.SplitSeq(h, ".") {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		for _, r := range label {
			if r < 0x80 && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return false
			}
		}
	}
	return true
}

// TW112: the Local Pass would fail on it.
func optionalTestValue(s *spec.Spec, report func(string, string)) {
	if _, e := s.TestArgs(); e != nil {
		report(strings.TrimPrefix(e.Pointer, s.Pointer()), e.Message)
	}
}

// TW113: the prompt is filled by {toolName} and {args} alone.
func dottedPrompt(s *spec.Spec, report func(string, string)) {
	if h := s.HumanInTheLoop; h != nil && h.PromptTemplate != nil && strings.Contains(*h.PromptTemplate, "{args.") {
		report("/humanInTheLoop/promptTemplate", "{args.name} is not replaced; write {args}, which shows all arguments")
	}
}

// TW114: whoever answers should see what the call is about where the sentence
// says so; without {args} the arguments stand below it.
func promptWithoutArgs(s *spec.Spec, report func(string, string)) {
	if h := s.HumanInTheLoop; h != nil && h.PromptTemplate != nil && strings.TrimSpace(*h.PromptTemplate) != "" && !strings.Contains(*h.PromptTemplate, "{args}") {
		report("/humanInTheLoop/promptTemplate", "the prompt does not say {args}; the arguments are appended to it")
	}
}

// TW115: the slug of Safe Tool Spec section 4.2, in either case. Other names
// can look like another tool's.
func nameForm(s *spec.Spec, report func(string, string)) {
	for _, r := range s.Name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			report("/name", "write the name with letters, digits, - and _ alone; "+quote(s.Name)+" can look like another tool")
			return
		}
	}
}

// quote shows text of an author inside a message, shortened.
func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "..."
	}
	return strconv.Quote(s)
}
