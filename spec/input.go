package spec

import (
	"encoding/json"
	"strings"
)

// InputSchema is the JSON Schema of the arguments as a model sees it: an
// object with the parameters in their order, types in lower case, nothing
// else of the document (section 6.2).
func (s *Spec) InputSchema() json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := 0
	for i, p := range s.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		writeText(&b, p.Name)
		b.WriteString(`:{"type":`)
		writeText(&b, strings.ToLower(string(p.Type)))
		if p.Description != "" {
			b.WriteString(`,"description":`)
			writeText(&b, p.Description)
		}
		b.WriteByte('}')
		if p.Required {
			required++
		}
	}
	b.WriteByte('}')
	if required > 0 {
		b.WriteString(`,"required":[`)
		sep := ""
		for _, p := range s.Params {
			if p.Required {
				b.WriteString(sep)
				writeText(&b, p.Name)
				sep = ","
			}
		}
		b.WriteByte(']')
	}
	b.WriteString(`,"additionalProperties":false}`)
	return json.RawMessage(b.String())
}

func writeText(b *strings.Builder, s string) { b.Write(encodeText(s)) }
