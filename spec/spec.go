package spec

import (
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// Spec is one valid document. Defaults are applied; Draft is true when absent.
type Spec struct {
	ToolID          string
	Name            string
	Description     string
	Category        string
	Tags            []string
	Params          []Param
	StaticVariables []StaticVariable
	Code            string
	CodeType        string
	Overrides       *Overrides // nil when absent or null; an empty block means the same
	ToolSafety      *ToolSafety
	HumanInTheLoop  *HumanInTheLoop
	Draft           bool
	CreateTimestamp int64
	UpdateTimestamp int64
	Extra           []Field // unknown members, in their order
}

// Loaded is one document of a path with what is wrong with it.
type Loaded struct {
	Spec   *Spec // nil when Errors has one
	File   string
	Errors []*fault.Error
}

// Load reads the spec documents at path.
func Load(path string) ([]Loaded, error) { panic("spec: being written") }

// Parse reads one document.
func Parse(file string, data []byte) (*Spec, []*fault.Error) { panic("spec: being written") }

// Digest is the specDigest.
func (s *Spec) Digest() string { panic("spec: being written") }

// File is the name under which the document was loaded.
func (s *Spec) File() string { panic("spec: being written") }

// Position is where pointer stands in the source text.
func (s *Spec) Position(pointer string) (Position, bool) { panic("spec: being written") }

// Facts is what the parsed code says about itself.
func (s *Spec) Facts() script.Facts { panic("spec: being written") }

// Placeholders are the distinct ${NAME} names of the static variables, sorted.
func (s *Spec) Placeholders() []string { panic("spec: being written") }

// Profile is the value of x-toolwarrant-profile, or "".
func (s *Spec) Profile() string { panic("spec: being written") }

// InputSchema is the JSON Schema of the parameters, in their order.
func (s *Spec) InputSchema() json.RawMessage { panic("spec: being written") }

// Args validates and coerces call arguments.
func (s *Spec) Args(raw json.RawMessage) (json.RawMessage, *fault.Error) {
	panic("spec: being written")
}

// TestArgs are the arguments of the Local Pass, from the testValues.
func (s *Spec) TestArgs() (json.RawMessage, *fault.Error) { panic("spec: being written") }
