package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
)

// ResultSchemaPointer is where the schema of what the tool returns stands.
const ResultSchemaPointer = "/x-toolwarrant-resultSchema"

const (
	// maxSchemaWeight bounds a schema with its references written out: the work
	// of looking at a value is that times the size of the value.
	maxSchemaWeight = 2000
	// maxSchemaWork bounds that product.
	maxSchemaWork = 20_000_000
	defsPrefix    = "#/$defs/"
	resultFile    = "result.schema.json"
	draft2020     = "https://json-schema.org/draft/2020-12/schema"
)

// resultSchema is the schema of what a tool returns.
type resultSchema struct {
	compiled *jsonschema.Schema
	weight   int
	output   json.RawMessage
}

// schemaDefect is why a result schema cannot be used; pointer is relative to it.
type schemaDefect struct{ pointer, message string }

// resultSchemaMember is the text of the member, nil when absent or null.
func (s *Spec) resultSchemaMember() json.RawMessage {
	for _, f := range s.Extra {
		if f.Name == ResultSchemaPointer[1:] && strings.TrimSpace(string(f.Value)) != "null" {
			return f.Value
		}
	}
	return nil
}

// results gives the schema, compiled once; nil when the document has none, or
// one that Parse refuses.
func (s *Spec) results() *resultSchema {
	s.resultOnce.Do(func() {
		if raw := s.resultSchemaMember(); raw != nil {
			s.result, _ = readResultSchema(raw)
		}
	})
	return s.result
}

// resultSchema refuses a schema that could not hold for any result, that another
// reader would understand otherwise, or that costs too much to apply.
func (p *parsing) resultSchema(s *Spec) {
	raw := s.resultSchemaMember()
	if raw == nil {
		return
	}
	if _, bad := readResultSchema(raw); bad != nil {
		p.invariant("result-schema", ResultSchemaPointer+bad.pointer, "%s", bad.message)
	}
}

func readResultSchema(raw json.RawMessage) (*resultSchema, *schemaDefect) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	root, ok := doc.(map[string]any)
	if err != nil || !ok {
		return nil, &schemaDefect{"", "want a JSON Schema as an object"}
	}
	if root["type"] != "object" {
		return nil, &schemaDefect{"/type", `the result that is described must be an object: write "type": "object", and let the code return one`}
	}
	w := &schemaWalk{root: root, done: map[string]int{}, open: map[string]bool{}}
	weight := w.schema(doc, "")
	if w.bad != nil {
		return nil, w.bad
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(resultFile, doc); err != nil {
		return nil, &schemaDefect{"", "this is no JSON Schema of draft 2020-12"}
	}
	compiled, err := c.Compile(resultFile)
	if err != nil {
		return nil, compileDefect(err)
	}
	out, err := outputSchema(raw)
	if err != nil {
		return nil, &schemaDefect{"", "the schema cannot be read"}
	}
	return &resultSchema{compiled, weight, out}, nil
}

// compileDefect says what the compiler found, with the place where it says one.
func compileDefect(err error) *schemaDefect {
	var pattern *jsonschema.InvalidRegexError
	var invalid *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &pattern):
		_, at, _ := strings.Cut(pattern.URL, "#")
		return &schemaDefect{at, "the pattern is not supported: patterns are those of RE2, without looking ahead or back"}
	case errors.As(err, &invalid):
		var leaf *jsonschema.ValidationError
		if errors.As(invalid.Err, &leaf) {
			for len(leaf.Causes) > 0 {
				leaf = leaf.Causes[0]
			}
			return &schemaDefect{pointerOf(leaf.InstanceLocation), "this is no JSON Schema of draft 2020-12: " + clip(strings.Join(leaf.ErrorKind.KeywordPath(), "/"))}
		}
	}
	return &schemaDefect{"", "this is no JSON Schema of draft 2020-12, or refers to something that it does not have"}
}

// schemaWalk looks at every schema of a document as often as a value would be
// looked at with it.
type schemaWalk struct {
	root map[string]any
	bad  *schemaDefect
	done map[string]int  // weights of definitions
	open map[string]bool // definitions that are being looked at
}

func (w *schemaWalk) refuse(pointer, message string) {
	if w.bad == nil {
		w.bad = &schemaDefect{pointer, message}
	}
}

// Keywords by what they hold, as JSON Schema 2020-12 has them.
var (
	holdSchema  = []string{"additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
	holdList    = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	holdMembers = []string{"properties", "patternProperties", "dependentSchemas"}
	// Others could make a reader look elsewhere than the eye does.
	refused = []string{"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"}
)

// schema gives the weight of v.
func (w *schemaWalk) schema(v any, at string) int {
	obj, ok := v.(map[string]any)
	if !ok || w.bad != nil {
		return 1 // true, false, or what the compiler refuses
	}
	for _, k := range refused {
		if _, has := obj[k]; has {
			w.refuse(join(at, k), quote(k)+` is not supported here; refer to "#/$defs/..." with $ref`)
			return 1
		}
	}
	if d, has := obj["$schema"]; has && d != draft2020 {
		w.refuse(join(at, "$schema"), "the schema must be of draft 2020-12: "+draft2020)
	}
	weight := 1
	add := func(v any, at string) {
		if weight += w.schema(v, at); weight > maxSchemaWeight {
			w.refuse("", "the schema is too large with its references written out")
		}
	}
	for _, k := range holdSchema {
		if sub, has := obj[k]; has {
			add(sub, join(at, k))
		}
	}
	for _, k := range holdList {
		if list, is := obj[k].([]any); is {
			for i, sub := range list {
				add(sub, index(join(at, k), i))
			}
		}
	}
	for _, k := range holdMembers {
		if members, is := obj[k].(map[string]any); is {
			for name, sub := range members {
				add(sub, join(join(at, k), name))
			}
		}
	}
	if list, is := obj["enum"].([]any); is {
		weight += len(list)
	}
	if ref, has := obj["$ref"]; has {
		weight += w.reference(ref, join(at, "$ref"))
	}
	if at == "" { // definitions that nothing refers to have to be good as well
		if defs, is := obj["$defs"].(map[string]any); is {
			for name := range defs {
				w.definition(name, join("/$defs", name))
			}
		}
	} else if _, has := obj["$defs"]; has {
		w.refuse(join(at, "$defs"), "$defs stands at the top of the schema alone")
	}
	if weight > maxSchemaWeight {
		w.refuse("", "the schema is too large with its references written out")
	}
	return weight
}

// reference gives the weight of what a $ref refers to.
func (w *schemaWalk) reference(ref any, at string) int {
	text, _ := ref.(string)
	name, ours := strings.CutPrefix(text, defsPrefix)
	if !ours || name == "" || strings.ContainsAny(name, "/~%") {
		w.refuse(at, `$ref must be "#/$defs/NAME": the schema refers to itself alone`)
		return 1
	}
	return w.definition(name, at)
}

func (w *schemaWalk) definition(name, at string) int {
	if n, ok := w.done[name]; ok {
		return n
	}
	defs, _ := w.root["$defs"].(map[string]any)
	def, ok := defs[name]
	switch {
	case !ok:
		w.refuse(at, "the schema has no definition "+quote(name))
		return 1
	case w.open[name]:
		w.refuse(at, "the definition "+quote(name)+" refers to itself; write out as many levels as the result has")
		return 1
	}
	w.open[name] = true
	n := w.schema(def, join("/$defs", name))
	delete(w.open, name)
	w.done[name] = n
	return n
}

// errorForm is the form of structuredContent of a call that failed.
const errorForm = `{"type":"object","properties":{"error":{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}},"required":["error"]}`

// outputSchema is the schema as clients get it. Some clients hold the schema
// against the structured content of failed calls as well, so that it has both
// forms. The definitions stay at the top, where references look for them, and
// $schema is left out, since old clients know older drafts only.
func outputSchema(raw json.RawMessage) (json.RawMessage, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	own, defs := []byte{'{'}, []byte(nil)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if err := v.Compact(); err != nil {
			return nil, err
		}
		switch key {
		case "$schema":
		case "$defs":
			defs = append(defs, v...)
		default:
			if len(own) > 1 {
				own = append(own, ',')
			}
			own = append(append(append(own, encodeText(key)...), ':'), v...)
		}
	}
	own = append(own, '}')
	var out bytes.Buffer
	out.WriteString(`{"type":"object","anyOf":[`)
	out.Write(own)
	out.WriteString("," + errorForm + "]")
	if defs != nil {
		out.WriteString(`,"$defs":`)
		out.Write(defs)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// OutputSchema is the JSON Schema of the structured content of the tool: what
// x-toolwarrant-resultSchema says of a result, or the form of an error. nil
// when the document has none.
func (s *Spec) OutputSchema() json.RawMessage {
	if r := s.results(); r != nil {
		return r.output
	}
	return nil
}

// CheckResult holds a result, which is valid JSON, against the schema of the
// document; nil when it fits, or when there is none. The fault names the place
// and the rule, and repeats no value.
func (s *Spec) CheckResult(result json.RawMessage) *fault.Error {
	r := s.results()
	if r == nil {
		return nil
	}
	broken := func(format string, args ...any) *fault.Error {
		return fault.New(fault.RuntimeError, "result-schema", "the result of the tool is not what its x-toolwarrant-resultSchema describes: "+format, args...)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
	if err != nil {
		return broken("it cannot be read")
	}
	if n := nodes(v); n > maxSchemaWork/r.weight {
		return broken("it is too large to be held against it")
	}
	err = r.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var leaf *jsonschema.ValidationError
	if !errors.As(err, &leaf) {
		return broken("it could not be held against it")
	}
	for len(leaf.Causes) > 0 {
		leaf = leaf.Causes[0]
	}
	at := "the result"
	if p := pointerOf(leaf.InstanceLocation); p != "" {
		at = "the value at " + clip(p)
	}
	return broken("%s breaks the rule %s", at, quote(clip(strings.Join(leaf.ErrorKind.KeywordPath(), "/"))))
}

// nodes counts the values in v.
func nodes(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += nodes(m)
		}
	case []any:
		for _, m := range v {
			n += nodes(m)
		}
	}
	return n
}
