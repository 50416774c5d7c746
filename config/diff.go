package config

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Diff gives the dotted keys whose values differ, sorted. A list is one value.
func Diff(a, b *Config) []string {
	x, y := Values(a), Values(b)
	var keys []string
	for k, v := range x {
		if !reflect.DeepEqual(v, y[k]) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// Values gives the value of every dotted key, in the form of JSON.
func Values(c *Config) map[string]any {
	out := map[string]any{}
	raw, err := json.Marshal(c)
	if err != nil { // plain values alone
		return out
	}
	var tree map[string]any
	if json.Unmarshal(raw, &tree) == nil {
		flatten("", tree, out)
	}
	return out
}

func flatten(prefix string, tree map[string]any, out map[string]any) {
	for k, v := range tree {
		if sub, ok := v.(map[string]any); ok {
			flatten(prefix+k+".", sub, out)
			continue
		}
		out[prefix+k] = v
	}
}
