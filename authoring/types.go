package authoring

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolwarrant/toolwarrant/spec"
)

// globals are the TypeScript declarations of what every tool finds in the
// runtime.
//
//go:embed globals.d.ts
var globals []byte

// WriteTypes writes the declarations for a tool into the folder types of its
// folder: globals.d.ts and tool.d.ts. What is there is replaced. The error is
// of code USAGE, path-unwritable.
func WriteTypes(folder string, s *spec.Spec) error {
	dir := filepath.Join(folder, "types")
	if err := write(filepath.Join(dir, "globals.d.ts"), globals); err != nil {
		return err
	}
	return write(filepath.Join(dir, "tool.d.ts"), Declare(s))
}

// Declare gives the declarations of a tool's own names: its parameters, alone
// and in args, and its static variables.
func Declare(s *spec.Spec) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "// The names of %s, from its spec.json. Written by \"toolwarrant types\".\n\ninterface Args {\n", comment(s.Name))
	for _, p := range s.Params {
		name, optional := p.Name, "?"
		if !spec.Identifier(name) {
			name = quote(name)
		}
		if p.Required {
			optional = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", doc("  ", p.Description), name, optional, typeOf(p.Type))
	}
	b.WriteString("}\n")
	for _, p := range s.Params {
		if !spec.Identifier(p.Name) {
			continue
		}
		t := typeOf(p.Type)
		if !p.Required {
			t += " | undefined"
		}
		fmt.Fprintf(&b, "\n%sdeclare var %s: %s;\n", doc("", p.Description), p.Name, t)
	}
	for _, v := range s.StaticVariables {
		if spec.Identifier(v.Key) {
			fmt.Fprintf(&b, "\n/** A static variable. */\ndeclare var %s: string;\n", v.Key)
		}
	}
	return []byte(b.String())
}

func typeOf(t spec.ParamType) string {
	switch t {
	case spec.String:
		return "string"
	case spec.Integer, spec.Number:
		return "number"
	case spec.Boolean:
		return "boolean"
	case spec.Array:
		return "any[]"
	default:
		return "Record<string, any>"
	}
}

func doc(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + comment(text) + " */\n"
}

// comment makes text safe to stand in a comment of one line.
func comment(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "*/", "* /")), " ")
}

func quote(name string) string {
	text, err := json.Marshal(name)
	if err != nil { // no string fails
		return `""`
	}
	return string(text)
}
