package spec

import "strings"

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
	return nearest(field, topLevel)
}

// nearest gives the candidate that s was probably meant to be, or "".
func nearest(s string, candidates []string) string {
	if len(s) > 40 {
		return ""
	}
	best, bound := "", min(3, len(s)/3+1)
	for _, c := range candidates {
		if d := distance(strings.ToLower(s), strings.ToLower(c)); d <= bound {
			best, bound = c, d-1
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}
