package js

import (
	"slices"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// HelperGroup is a group of what the runtime adds to the language (Safe Tool
// Spec, section 8.3).
type HelperGroup struct {
	ID    string   `json:"id"`    // namespaced spelling, "safety.fs/v1"
	Names []string `json:"names"` // as code writes them, sorted
	Grant string   `json:"grant"` // "network" or "files" where the posture has to grant it, "" = always there
}

// HelperGroups lists what code can use, sorted by id. A test holds the names
// against the runtime.
func HelperGroups() []HelperGroup {
	fs := []string{"safety.fs.readBytes"}
	for _, m := range slices.Concat(fsRead, fsWrite, fsBoth) {
		fs = append(fs, "safety.fs."+m.name)
	}
	groups := []HelperGroup{
		{ID: script.HTTP, Names: []string{"fetch"}, Grant: "network"},
		{ID: script.FS, Names: fs, Grant: "files"},
		{ID: script.Parser, Names: []string{"safety.parser.csv", "safety.parser.dataGoKr", "safety.parser.html", "safety.parser.xml", "safety.parser.yaml"}},
		{ID: script.Crypto, Names: []string{"crypto.getRandomValues", "crypto.randomUUID", "crypto.subtle.digest", "crypto.subtle.importKey", "crypto.subtle.sign", "crypto.subtle.verify"}},
		{ID: script.Encoding, Names: []string{"TextDecoder", "TextEncoder", "atob", "btoa"}},
		{ID: script.Time, Names: []string{"safety.time.parse", "safety.time.zoned"}},
	}
	groups = append(groups, HelperGroup{ID: script.Checked, Names: []string{"safety.check"}})
	for _, g := range groups {
		slices.Sort(g.Names)
	}
	slices.SortFunc(groups, func(a, b HelperGroup) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return groups
}
