// Package spec is the Safe Tool Spec 1.0 document: its Go types and defaults,
// loading with positions, saving without loss, validation and digests.
//
// A Spec is immutable after Load: its digest and positions are computed once,
// and it may be shared by any number of goroutines. To change one, use Edit,
// which gives a new Spec. The package decides nothing about policy and does
// not run code; package script (spec/script) only reads it.
package spec

import "encoding/json"

// Limits on a document, checked before it is parsed.
const (
	// MaxDocumentBytes bounds one spec document or bundle member.
	MaxDocumentBytes = 1 << 20
	// MaxCodeBytes bounds the code of one tool.
	MaxCodeBytes = 64 << 10
)

// ParamType is the declared type of a parameter, upper case as stored.
type ParamType string

// The six parameter types of section 6.2.
const (
	String  ParamType = "STRING"
	Integer ParamType = "INTEGER"
	Number  ParamType = "NUMBER"
	Boolean ParamType = "BOOLEAN"
	Object  ParamType = "OBJECT"
	Array   ParamType = "ARRAY"
)

// Param is one declared argument (section 6.1).
type Param struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Required    bool      `json:"required"`
	Type        ParamType `json:"type"`
	TestValue   *string   `json:"testValue,omitempty"`
}

// StaticVariable is one server-side value (section 7). The list keeps its
// order and its duplicates; on read the later entry wins.
type StaticVariable struct {
	Key   string
	Value string // unresolved: placeholders stand as written
}

// Overrides is the sandboxOverrides block (section 10.1): a closed shape.
// A nil pointer means "inherit", which an explicit value is not.
type Overrides struct {
	AddAllowClasses    []string `json:"addAllowClasses"`
	RemoveAllowClasses []string `json:"removeAllowClasses"`
	AddDenyClasses     []string `json:"addDenyClasses"`
	RemoveDenyClasses  []string `json:"removeDenyClasses"`
	NetworkMode        *string  `json:"networkMode"`
	HostsAllow         []string `json:"hostsAllow"`
	FileRead           *bool    `json:"fileRead"`
	FileWrite          *bool    `json:"fileWrite"`
	FSBasePath         *string  `json:"fsBasePath"`
	// Destructive is the one key beyond 1.0; true scores L5.
	Destructive *bool `json:"destructive,omitempty"`
}

// HumanInTheLoop is the optional approval block of a spec. A nil Mode is an
// absent one, which is not the same as DISABLED.
type HumanInTheLoop struct {
	Mode           *string `json:"mode"`
	PromptTemplate *string `json:"promptTemplate"`
}

// ToolSafety is the resolved posture (section 10.3). The stored block is only
// ever compared; the one in force is derived anew by the resolver.
type ToolSafety struct {
	Version      string             `json:"version"`
	Runtime      ToolSafetyRuntime  `json:"runtime"`
	Category     ToolSafetyCategory `json:"category"`
	Capabilities Capabilities       `json:"capabilities"`
}

// ToolSafetyRuntime says which runtime the posture is for.
type ToolSafetyRuntime struct {
	ID          string   `json:"id"`
	MinVersion  string   `json:"minVersion"`
	ECMAVersion string   `json:"ecmaVersion"`
	JavaInterop bool     `json:"javaInterop"`
	Helpers     []string `json:"helpers"`
	Console     bool     `json:"console"`
}

// ToolSafetyCategory says where a tool comes from and what it is about.
type ToolSafetyCategory struct {
	Source string `json:"source"`
	ID     string `json:"id"`
}

// Capabilities is what the runtime commits to.
type Capabilities struct {
	Network   CapabilityNetwork `json:"network"`
	FileRead  bool              `json:"fileRead"`
	FileWrite bool              `json:"fileWrite"`
}

// CapabilityNetwork is the egress part of Capabilities.
type CapabilityNetwork struct {
	Mode  string   `json:"mode"`
	Hosts []string `json:"hosts"`
}

// Field is a top-level member that the specification does not define, kept
// byte for byte.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Position is a place in the source text, 1-based; columns count bytes.
type Position struct{ Line, Column int }
