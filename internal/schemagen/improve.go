package main

import (
	"fmt"
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

// nullable rewrites anyOf [{type: null}, {type: T, ...}] to
// {type: [T, null], ...}: the same meaning, and a validator then reports one
// error at the value instead of one per branch. A branch that is a reference
// stays, since a reference cannot be widened.
func nullable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = nullable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = nullable(v[k])
		}
		if merged, ok := merge(v); ok {
			return merged
		}
	}
	return v
}

func merge(v map[string]any) (map[string]any, bool) {
	branches, ok := v["anyOf"].([]any)
	if !ok || len(branches) != 2 || !isNull(branches[0]) {
		return nil, false
	}
	other, ok := branches[1].(map[string]any)
	typ, single := other["type"].(string)
	if !ok || !single {
		return nil, false
	}
	out := map[string]any{}
	for k, val := range v {
		if k != "anyOf" {
			out[k] = val
		}
	}
	for k, val := range other {
		if _, taken := out[k]; taken {
			return nil, false
		}
		out[k] = val
	}
	out["type"] = []any{typ, "null"}
	return out, true
}

func isNull(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 1 && m["type"] == "null"
}
