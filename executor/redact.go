package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// redact replaces the arguments that the policy keeps out of the log by
// "***". pointers are RFC 6901 pointers into args, of which the first member
// counts: an argument is kept out as a whole. It gives the members that it
// replaced. Arguments that cannot be read are not recorded at all.
func redact(args json.RawMessage, pointers []string) (json.RawMessage, []string) {
	if len(pointers) == 0 || len(args) == 0 {
		return args, nil
	}
	names := make([]string, len(pointers))
	for i, p := range pointers {
		first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		names[i] = strings.ReplaceAll(strings.ReplaceAll(first, "~1", "/"), "~0", "~")
	}
	var out bytes.Buffer
	var replaced []string
	in, enc := jsontext.NewDecoder(bytes.NewReader(args)), jsontext.NewEncoder(&out)
	copyMembers := func() error {
		if tok, err := in.ReadToken(); err != nil || tok.Kind() != '{' {
			return err
		}
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for in.PeekKind() == '"' {
			name, err := in.ReadToken()
			if err != nil {
				return err
			}
			text := name.String()
			if err := enc.WriteToken(jsontext.String(text)); err != nil {
				return err
			}
			value, err := in.ReadValue()
			if err != nil {
				return err
			}
			if slices.Contains(names, text) {
				value = jsontext.Value(`"***"`)
				replaced = append(replaced, text)
			}
			if err := enc.WriteValue(value); err != nil {
				return err
			}
		}
		if _, err := in.ReadToken(); err != nil {
			return err
		}
		return enc.WriteToken(jsontext.EndObject)
	}
	if err := copyMembers(); err != nil || out.Len() == 0 {
		return nil, nil
	}
	return bytes.TrimSpace(out.Bytes()), replaced
}
