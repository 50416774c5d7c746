package lint

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/toolwarrant/toolwarrant/internal/optional"
)

// MarshalJSON writes all seven fields; one without value is null. Every
// finding has a pointer: that of text that is no JSON is "", the whole of it.
func (f Finding) MarshalJSON() ([]byte, error) {
	// json.Marshal would escape <, > and &, which occur in messages.
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		RuleID   string   `json:"ruleId"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		File     *string  `json:"file"`
		Pointer  string   `json:"pointer"`
		Line     *int     `json:"line"`
		Column   *int     `json:"column"`
	}{f.RuleID, f.Severity, f.Message, optional.Of(f.File), f.Pointer, optional.Of(f.Line), optional.Of(f.Column)})
	return b.Bytes(), err
}

// JSON writes the report as one document with a final newline.
func JSON(w io.Writer, r Report) error {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
