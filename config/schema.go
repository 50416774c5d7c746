package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/schemas"
)

const schemaFile = "config.schema.json"

// schema is the generated JSON Schema, as a tree of keys and compiled.
type schema struct {
	root     *key
	compiled *jsonschema.Schema
	vars     map[string][]string // variable name to path
}

// key is one key of the configuration, or the element of a list.
type key struct {
	path       []string
	kind       kind
	doc        string
	fallback   *node // the default, nil for one inside a list
	properties map[string]*key
	items      *key
}

// raw is the part of a JSON Schema that the generator uses for this format.
type raw struct {
	Ref         string          `json:"$ref"`
	Type        string          `json:"type"`
	Enum        []any           `json:"enum"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Properties  map[string]*raw `json:"properties"`
	Items       *raw            `json:"items"`
	Defs        map[string]*raw `json:"$defs"`
}

// loadSchema compiles the embedded schema once; it is immutable.
var loadSchema = sync.OnceValues(func() (*schema, error) {
	s, err := compile()
	if err != nil {
		return nil, fault.New(fault.Internal, "config-schema", "the embedded configuration schema is damaged").Because(err)
	}
	return s, nil
})

func compile() (*schema, error) {
	text, err := schemas.FS.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaFile)
	if err != nil {
		return nil, err
	}
	var r raw
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	s := &schema{compiled: compiled, vars: map[string][]string{}}
	if s.root, err = keys(&r, &r, nil); err != nil {
		return nil, err
	}
	s.root.walk(func(k *key) {
		if len(k.path) > 0 {
			s.vars[variable(k.path)] = k.path
		}
	})
	return s, nil
}

func keys(root, r *raw, path []string) (*key, error) {
	doc := r.Description
	if r.Ref != "" {
		def := root.Defs[strings.TrimPrefix(r.Ref, "#/$defs/")]
		if def == nil {
			return nil, fault.New(fault.Internal, "config-schema", "no definition %s", r.Ref)
		}
		r = def
	}
	k := &key{path: path, doc: doc, kind: kindOf(r)}
	var err error
	switch k.kind {
	case object:
		k.properties = map[string]*key{}
		for name, p := range r.Properties {
			if k.properties[name], err = keys(root, p, extend(path, name)); err != nil {
				return nil, err
			}
		}
	case list:
		if k.items, err = keys(root, r.Items, path); err != nil {
			return nil, err
		}
	}
	if r.Default != nil {
		k.fallback, err = parseJSON(place{origin: "default"}, r.Default)
	}
	return k, err
}

func kindOf(r *raw) kind {
	switch r.Type {
	case "object":
		return object
	case "array":
		return list
	case "integer", "number":
		return number
	case "boolean":
		return truth
	}
	return text // enumerations too: all of ours are words
}

// walk visits k and every key below it, but not the elements of lists.
func (k *key) walk(visit func(*key)) {
	visit(k)
	for _, name := range sorted(k.properties) {
		k.properties[name].walk(visit)
	}
}

// defaults is the tree of the values that nobody set.
func (s *schema) defaults() *node { return s.root.defaults() }

func (k *key) defaults() *node {
	if k.kind != object {
		return k.fallback
	}
	n := &node{kind: object, at: place{origin: "default"}}
	for _, name := range sorted(k.properties) {
		if d := k.properties[name].defaults(); d != nil {
			n.members = append(n.members, member{name, n.at, d})
		}
	}
	return n
}

func (s *schema) lookup(path []string) *key {
	k := s.root
	for _, step := range path {
		if k = k.properties[step]; k == nil {
			return nil
		}
	}
	return k
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// dotted is how a person writes the path of a key.
func dotted(path []string) string { return strings.Join(path, ".") }

// variable is the environment variable of a key: a.b-c is TOOLWARRANT_A_B_C.
func variable(path []string) string {
	return prefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(dotted(path)))
}
