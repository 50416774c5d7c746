package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// order is how a person reads a schema: what it is, then what it holds, then
// the definitions. Keywords that are not named follow description, sorted.
var order = []string{"$schema", "$id", "title", "description", "$ref", "type", "*", "properties", "required", "additionalProperties", "$defs"}

// encode writes a schema, indented, in the order above. The members of
// properties and $defs are names of ours and sorted.
func encode(doc map[string]any) ([]byte, error) {
	var flat bytes.Buffer
	if err := value(&flat, doc, true); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func value(b *bytes.Buffer, v any, keywords bool) error {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for k := range v {
			names = append(names, k)
		}
		slices.SortFunc(names, func(x, y string) int {
			if keywords {
				if d := rank(x) - rank(y); d != 0 {
					return d
				}
			}
			return strings.Compare(x, y)
		})
		b.WriteByte('{')
		for i, k := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := leaf(b, k); err != nil {
				return err
			}
			b.WriteByte(':')
			named := keywords && (k == "properties" || k == "$defs" || k == "patternProperties")
			if err := value(b, v[k], !named); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := value(b, e, true); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		return leaf(b, v)
	}
	return nil
}

func leaf(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline of the encoder
	return nil
}

func rank(k string) int {
	if i := slices.Index(order, k); i >= 0 {
		return i
	}
	return slices.Index(order, "*")
}
