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

// otherNames are what members are called elsewhere, or for short, too far from
// the specified name for a slip to explain them.
var otherNames = map[string]string{
	"inputschema": "params", "parameters": "params", "arguments": "params",
	"sandbox": "sandboxOverrides", "overrides": "sandboxOverrides", "safety": "toolSafety", "hitl": "humanInTheLoop",
	"variables": "staticVariables", "script": "code", "javascript": "code",
}

// NearMiss gives the specified member that an unknown one at the top level was
// probably meant to be, or "": one of nearly that name, of another name, or one
// of a block, such as "sandboxOverrides.hostsAllow". Fields of a vendor (x-...)
// are never one.
func NearMiss(field string) string {
	if strings.HasPrefix(field, "x-") {
		return ""
	}
	if known := suggest.Nearest(field, topLevel); known != "" {
		return known
	}
	if known := otherNames[strings.ToLower(field)]; known != "" {
		return known
	}
	const block = "sandboxOverrides"
	if known := suggest.Nearest(field, membersOf("/"+block)); known != "" {
		return block + "." + known
	}
	return ""
}
