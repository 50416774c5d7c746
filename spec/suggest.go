package spec

import (
	"strings"

	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

// topLevel are the members that Safe Tool Spec section 3 names, with the
// approval block; every other member of a document is kept as it is.
var topLevel = []string{
	"toolId", "name", "description", "category", "tags", "params", "staticVariables", "code",
	"codeType", "sandboxOverrides", "toolSafety", "humanInTheLoop", "draft", "createTimestamp", "updateTimestamp",
}

// membersOf are the members that the closed block at pointer may have.
func membersOf(pointer string) []string {
	toks := tokens(pointer)
	switch {
	case len(toks) == 2 && toks[0] == "params":
		return []string{"name", "description", "required", "type", "testValue"}
	case pointer == "/sandboxOverrides":
		return []string{"addAllowClasses", "removeAllowClasses", "addDenyClasses", "removeDenyClasses",
			"networkMode", "hostsAllow", "fileRead", "fileWrite", "fsBasePath", "destructive"}
	case pointer == "/humanInTheLoop":
		return []string{"mode", "promptTemplate"}
	case pointer == "/toolSafety":
		return []string{"version", "runtime", "category", "capabilities"}
	case pointer == "/toolSafety/runtime":
		return []string{"id", "minVersion", "ecmaVersion", "javaInterop", "helpers", "console"}
	case pointer == "/toolSafety/category":
		return []string{"source", "id"}
	case pointer == "/toolSafety/capabilities":
		return []string{"network", "fileRead", "fileWrite"}
	case pointer == "/toolSafety/capabilities/network":
		return []string{"mode", "hosts"}
	}
	return nil
}

// NearMiss gives the specified top-level member that an unknown one was
// probably meant to be, or "". Fields of a vendor (x-...) are never one.
func NearMiss(field string) string {
	if strings.HasPrefix(field, "x-") {
		return ""
	}
	return suggest.Nearest(field, topLevel)
}
