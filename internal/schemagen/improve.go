package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"cuelang.org/go/cue"
)

// bounds adds what the CUE encoder cannot express yet: struct.MinFields and
// struct.MaxFields among the conjuncts of a definition become minProperties
// and maxProperties. The numbers come from the CUE value, not from here.
func bounds(pkg cue.Value, definition string, doc map[string]any) {
	addBounds(pkg.LookupPath(cue.ParsePath(definition)), doc)
	defs, _ := doc["$defs"].(map[string]any)
	for name, d := range defs {
		if m, ok := d.(map[string]any); ok {
			addBounds(pkg.LookupPath(cue.ParsePath("#"+name)), m)
		}
	}
}

func addBounds(v cue.Value, into map[string]any) {
	op, args := v.Expr()
	switch {
	case op == cue.AndOp:
		for _, a := range args {
			addBounds(a, into)
		}
	case op == cue.CallOp && len(args) == 2:
		n, err := args[1].Int64()
		if err != nil {
			return
		}
		switch strings.TrimSuffix(fmt.Sprint(args[0]), "()") {
		case "struct.MinFields":
			into["minProperties"] = n
		case "struct.MaxFields":
			into["maxProperties"] = n
		}
	}
}

// loosen leaves nothing of a definition but its description.
func loosen(doc map[string]any, names []string) error {
	defs, _ := doc["$defs"].(map[string]any)
	for _, name := range names {
		d, ok := defs[strings.TrimPrefix(name, "#")].(map[string]any)
		if !ok {
			return fmt.Errorf("%s is to be left open and is not used", name)
		}
		maps.DeleteFunc(d, func(keyword string, _ any) bool { return keyword != "description" })
	}
	return nil
}

// simplify rewrites two shapes of the encoder into shorter ones of the same
// meaning, so that a validator reports one error at the value instead of one
// per branch:
//
//	anyOf [{type: null}, {type: T, ...}]    ->  {type: [T, null], ...}
//	allOf [{type: number}, {type: integer, ...}]  ->  {type: integer, ...}
//
// A branch that is a reference stays, since a reference cannot be widened.
func simplify(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = simplify(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = simplify(v[k])
		}
		if x, ok := integer(v); ok {
			v = x
		}
		if x, ok := nullable(v); ok {
			v = x
		}
		return v
	}
	return v
}

// integer drops the type number beside the type integer, which is narrower.
func integer(v map[string]any) (map[string]any, bool) {
	a, b, ok := pair(v, "allOf")
	if !ok || a["type"] != "number" || b["type"] != "integer" {
		return nil, false
	}
	a = maps.Clone(a)
	delete(a, "type")
	return join(v, "allOf", a, b)
}

// nullable folds a null branch into the type of the other.
func nullable(v map[string]any) (map[string]any, bool) {
	a, b, ok := pair(v, "anyOf")
	if !ok || len(a) != 1 || a["type"] != "null" {
		return nil, false
	}
	typ, single := b["type"].(string)
	if !single {
		return nil, false
	}
	b = maps.Clone(b)
	b["type"] = []any{typ, "null"}
	return join(v, "anyOf", b)
}

func pair(v map[string]any, keyword string) (a, b map[string]any, ok bool) {
	list, _ := v[keyword].([]any)
	if len(list) != 2 {
		return nil, nil, false
	}
	a, okA := list[0].(map[string]any)
	b, okB := list[1].(map[string]any)
	return a, b, okA && okB
}

// join replaces a keyword of v by the members of parts, unless one of them
// is there already.
func join(v map[string]any, keyword string, parts ...map[string]any) (map[string]any, bool) {
	out := maps.Clone(v)
	delete(out, keyword)
	for _, part := range parts {
		for k, val := range part {
			if _, taken := out[k]; taken {
				return nil, false
			}
			out[k] = val
		}
	}
	return out, true
}

// defaults writes the value of every leaf of v as the default of its
// property. A definition that two properties share can have one default only.
func defaults(root, node map[string]any, v cue.Value) error {
	it, err := v.Fields()
	if err != nil {
		return err
	}
	properties, _ := node["properties"].(map[string]any)
	for it.Next() {
		name := it.Selector().Unquoted()
		p, ok := properties[name].(map[string]any)
		if !ok {
			return fmt.Errorf("%s has a default and no schema", it.Value().Path())
		}
		if it.Value().IncompleteKind() == cue.StructKind {
			if ref, ok := p["$ref"].(string); ok {
				defs, _ := root["$defs"].(map[string]any)
				p, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			}
			if err := defaults(root, p, it.Value()); err != nil {
				return err
			}
			continue
		}
		raw, err := it.Value().MarshalJSON()
		if err != nil {
			return err
		}
		var val any
		if err := json.Unmarshal(raw, &val); err != nil {
			return err
		}
		if have, set := p["default"]; set && !reflect.DeepEqual(have, val) {
			return fmt.Errorf("%s shares its definition with a property of another default", it.Value().Path())
		}
		p["default"] = val
	}
	return nil
}
