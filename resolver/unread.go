package resolver

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/toolwarrant/toolwarrant/fault"
)

// readCUE says from where the layers are read.
const readCUE = "the layers are read from cue/policy.cue, cue/baseline.cue, cue/bindings.cue and cue/profiles/*.cue"

// misplaced refuses a file that looks like policy and would not be read: to
// whoever wrote it, it would look as if it were in force. nil passes over what
// does not look like policy.
func misplaced(part, p string) func(string, []byte) error {
	refuse := func(reason, format string) func(string, []byte) error {
		return func(name string, _ []byte) error {
			return fault.New(fault.PolicyUnavailable, reason, format, name).At(name, "", 1, 1)
		}
	}
	ext := path.Ext(p)
	plain := strings.ToLower(ext)
	data := plain == ".json" || plain == ".yaml" || plain == ".yml"
	switch {
	case part == "cue" && strings.HasPrefix(p, "cue.mod/"): // the module
		return nil
	case part == "cue" && plain == ".cue":
		return refuseLayers
	case part == "cue" && plain == ".rego":
		return refuse("policy-cue", "%s is not read: rules are read from rego; move it there")
	case part == "cue" && data && (path.Dir(p) == "." || strings.HasPrefix(p, "profiles/")):
		return refuse("policy-cue", "%s is not read: "+readCUE+"; write it as CUE there, which takes JSON as it is")
	case part != "cue" && plain == ".rego":
		return refuse("policy-compile", "%s is not read: the name of a module ends in .rego, in small letters; rename it")
	case part != "cue" && plain == ".cue":
		return refuse("policy-compile", "%s is not read: "+readCUE+"; move it there")
	case part == "rego" && data:
		return refuse("policy-compile", "the policy keeps its settings in rego/data.json alone; move %s into it")
	}
	return nil
}

// noFolderLink refuses a link to a folder, which is not followed. Names with
// a dot are how volumes of a cluster switch to another version.
func noFolderLink(fsys fs.FS, part, p string, d fs.DirEntry) error {
	if d.Type()&fs.ModeSymlink == 0 || strings.HasPrefix(d.Name(), ".") {
		return nil
	}
	info, err := fs.Stat(fsys, p)
	if err != nil || !info.IsDir() {
		return nil // a file; that it cannot be read is said where it is read
	}
	reason := "policy-compile"
	if part == "cue" {
		reason = "policy-cue"
	}
	return fault.New(fault.PolicyUnavailable, reason,
		"%s is a link to a folder, and such links are not followed; copy the folder there", path.Join(part, p))
}

// refuseLayers keeps a CUE file from looking like policy without being read.
// One that only defines, such as the formats beside the embedded policy, says
// nothing that could be missed.
func refuseLayers(name string, text []byte) error {
	refuse := func(at, what string) error {
		return fault.New(fault.PolicyUnavailable, "policy-cue", "%s: %s, but this file is not read: %s; move it there", at, what, readCUE)
	}
	f, err := parser.ParseFile(name, text)
	if err != nil {
		return refuse(name, "no CUE that can be parsed")
	}
	for _, d := range f.Decls {
		if what := states(d); what != "" {
			return refuse(fmt.Sprintf("%s:%d", name, d.Pos().Line()), "it states "+what)
		}
	}
	return nil
}

// states is what a declaration gives a value, or "" for one that only defines.
func states(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.Package, *ast.ImportDecl, *ast.CommentGroup, *ast.Attribute, *ast.LetClause:
		return ""
	case *ast.Field:
		name, isIdent, err := ast.LabelName(d.Label)
		switch {
		case err != nil:
			return "a field"
		case isIdent && (strings.HasPrefix(name, "#") || strings.HasPrefix(name, "_")):
			return ""
		}
		return name
	}
	return "a value"
}
