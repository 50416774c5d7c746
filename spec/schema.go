package spec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/suggest"
	"github.com/toolwarrant/toolwarrant/schemas"
)

const schemaFile = "safe-tool-spec.schema.json"

// documentSchema is the JSON Schema of a document, compiled once. The file is
// part of the binary, so an error is a defect of the build.
var documentSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	raw, err := schemas.FS.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaFile, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaFile)
})

// noLoader refuses every reference that leaves the schema: validation reads no
// file and no network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("the schema refers to " + url + ", which is not part of it")
}

// violation is one leaf of the validator's answer.
type violation struct {
	pointer string
	reason  string
	message string
	atName  bool // the place is the name of the member, not its value
	missing bool // the place is the parent of pointer
}

// validate checks v, the value of a document, against the schema.
func validate(v any) ([]violation, *fault.Error) {
	sch, err := documentSchema()
	if err != nil {
		return nil, fault.New(fault.Internal, "schema", "the built-in JSON Schema does not compile").Because(err)
	}
	err = sch.Validate(v)
	if err == nil {
		return nil, nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return nil, fault.New(fault.Internal, "schema", "the JSON Schema cannot be applied").Because(err)
	}
	out := leaves(sch, ve, nil)
	if len(out) == 0 {
		// Never let a document pass because its defect has no name here.
		out = []violation{{reason: "schema", message: "the document does not match the JSON Schema"}}
	}
	return out, nil
}

// leaves walks the tree of causes down to the findings that help.
func leaves(sch *jsonschema.Schema, e *jsonschema.ValidationError, out []violation) []violation {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if best := bestBranch(e.Causes); best != nil {
			return leaves(sch, best, out)
		}
		return append(out, alternatives(e))
	}
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			out = leaves(sch, c, out)
		}
		return out
	}
	return append(out, name(e)...)
}

// bestBranch is the alternative that the author meant: the one that accepts
// the type of the value and then finds fault with what is inside. Nil when
// every alternative already refuses the type.
func bestBranch(branches []*jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	for _, b := range branches {
		if _, refused := innermost(b).ErrorKind.(*kind.Type); refused && len(innermost(b).InstanceLocation) == len(b.InstanceLocation) {
			continue
		}
		if best != nil {
			return nil
		}
		best = b
	}
	return best
}

// innermost follows a chain of single causes.
func innermost(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e
}

// alternatives joins branches that all refuse the type of the value.
func alternatives(e *jsonschema.ValidationError) violation {
	v := violation{pointer: pointerOf(e.InstanceLocation), reason: "type"}
	var want []string
	got := ""
	for _, b := range e.Causes {
		if t, ok := innermost(b).ErrorKind.(*kind.Type); ok {
			want, got = append(want, t.Want...), t.Got
		}
	}
	if len(want) == 0 {
		v.reason, v.message = "schema", "the value matches none of the allowed forms"
		return v
	}
	v.message = typeMessage(got, want)
	return v
}

func typeMessage(got string, want []string) string {
	want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "null" && len(want) > 1 })
	return fmt.Sprintf("want %s, got %s", strings.Join(want, " or "), got)
}

// name turns one leaf into findings with a stable reason.
func name(e *jsonschema.ValidationError) []violation {
	p := pointerOf(e.InstanceLocation)
	one := func(reason, format string, args ...any) []violation {
		return []violation{{pointer: p, reason: reason, message: fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return one("type", "%s", typeMessage(k.Got, k.Want))
	case *kind.Enum:
		return one("enum", "%s", enumMessage(k.Got, k.Want))
	case *kind.Const:
		return one("enum", "%s", enumMessage(k.Got, []any{k.Want}))
	case *kind.Required:
		var out []violation
		for _, m := range k.Missing {
			out = append(out, violation{pointer: join(p, m), reason: "required", missing: true,
				message: fmt.Sprintf("the member %q is missing", m)})
		}
		return out
	case *kind.AdditionalProperties:
		var out []violation
		for _, m := range k.Properties {
			msg := fmt.Sprintf("%q is not a member of this block, which is closed", clip(m))
			if s := suggest.Nearest(m, membersOf(p)); s != "" {
				msg += fmt.Sprintf("; did you mean %q?", s)
			}
			out = append(out, violation{pointer: join(p, m), reason: "additional-property", message: msg, atName: true})
		}
		return out
	case *kind.MinLength:
		return one("min-length", "the text must not be empty")
	case *kind.MinProperties:
		return one("min-properties", "want exactly %d member(s), got %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return one("max-properties", "want at most %d member(s), got %d; write one object per member", k.Want, k.Got)
	}
	slug := "schema"
	if kw := e.ErrorKind.KeywordPath(); len(kw) > 0 {
		slug = kebab(kw[len(kw)-1])
	}
	return one(slug, "the value breaks the rule %q of the JSON Schema", slug)
}

func enumMessage(got any, want []any) string {
	words := make([]string, 0, len(want))
	for _, w := range want {
		if s, ok := w.(string); ok {
			words = append(words, s)
		}
	}
	msg := "want " + strings.Join(words, ", ")
	if len(words) > 1 {
		msg = "want one of " + strings.Join(words, ", ")
	}
	if s, ok := got.(string); ok {
		msg += fmt.Sprintf("; got %q", clip(s))
		if n := suggest.Nearest(s, words); n != "" {
			msg += fmt.Sprintf(", did you mean %q?", n)
		}
	}
	return msg
}

func pointerOf(toks []string) string {
	p := ""
	for _, t := range toks {
		p = join(p, t)
	}
	return p
}

// kebab turns a schema keyword such as maxItems into max-items.
func kebab(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// clip shortens text of an author for a message.
func clip(s string) string {
	const n = 60
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
