// Package decision is the vocabulary that the policy decides in: who calls
// (Principal), what was decided (Decision) and what the executor has to
// enforce (EffectivePolicy). It holds types and their digests, no logic that
// decides: that is Rego, evaluated by package resolver.
//
// The JSON form of Decision is a fixed contract (toolwarrant resolve, audit
// records); cue/decision.cue states it. All types are plain values: safe to
// read from many goroutines, never changed after the resolver returns them.
package decision

import (
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/decision/network"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Origin says through which door a call came.
type Origin string

// The doors. OriginList and OriginLint mark evaluations that are not calls.
const (
	OriginMCPHTTP  Origin = "mcp-http"
	OriginMCPStdio Origin = "mcp-stdio"
	OriginCLIRun   Origin = "cli-run"
	OriginCLITest  Origin = "cli-test"
	OriginAdmin    Origin = "admin"
	OriginStudio   Origin = "studio"
	OriginList     Origin = "list"
	OriginLint     Origin = "lint"
)

// Principal is the caller as authentication established it. Without
// authentication the subject is "local" (MCP) or "uid:<n>" (CLI), and the
// method says "none" or "os-user".
type Principal struct {
	Subject  string   `json:"subject"`
	Method   string   `json:"method"`
	ClientID string   `json:"clientId"`
	Groups   []string `json:"groups"`
	Scopes   []string `json:"scopes"`
	// Untrusted marks a clientId that the client gave itself.
	Untrusted bool `json:"untrusted"`
}

// Decision is the answer of the policy for one tool and one caller.
type Decision struct {
	DecisionID      string           `json:"decisionId"`
	DecidedAt       string           `json:"decidedAt"` // RFC 3339, UTC, milliseconds
	Allow           bool             `json:"allow"`
	PolicyRevision  string           `json:"policyRevision"`
	ProfileChain    []string         `json:"profileChain"`
	Tool            Tool             `json:"tool"`
	EffectivePolicy EffectivePolicy  `json:"effectivePolicy"`
	ToolSafety      spec.ToolSafety  `json:"toolSafety"`
	RiskLevel       string           `json:"riskLevel"` // L0..L5
	RiskSignals     []Signal         `json:"riskSignals"`
	HumanInTheLoop  HumanInTheLoop   `json:"humanInTheLoop"`
	Limits          Limits           `json:"limits"`
	Isolation       IsolationMinimum `json:"isolation"`
	Reasons         []Reason         `json:"reasons"`

	// Mask holds pointers into the arguments that the record writes as "***".
	// It steers the record and is no part of the answer.
	Mask []string `json:"-"`
	// Record says what else the record does not show. Nor is it a part of the
	// answer.
	Record Record `json:"-"`
}

// Tool names what was decided about.
type Tool struct {
	ToolID     string `json:"toolId"`
	Name       string `json:"name"`
	Category   string `json:"category"`
	SpecDigest string `json:"specDigest"`
}

// EffectivePolicy is what the executor enforces, and all that it enforces.
type EffectivePolicy struct {
	AllowClasses   []string `json:"allowClasses"`
	DenyClasses    []string `json:"denyClasses"`
	Network        Network  `json:"network"`
	FS             FS       `json:"fs"`
	Env            []string `json:"env"` // placeholder names that may be resolved
	MaxStatements  int64    `json:"maxStatements"`
	TimeoutSeconds int64    `json:"timeoutSeconds"`
	MaxMemoryBytes int64    `json:"maxMemoryBytes"`
	MaxOutputBytes int64    `json:"maxOutputBytes"`
	MaxLogLines    int64    `json:"maxLogLines"`
	// Sandbox is what commands are kept in; nil, and absent, where the tool can
	// start none.
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// Network is the egress part of an EffectivePolicy.
type Network = network.Policy

// FS is the file part of an EffectivePolicy; BasePath confines both.
type FS struct {
	Read     bool   `json:"read"`
	Write    bool   `json:"write"`
	BasePath string `json:"basePath"`
}

// Signal is one reason for the risk level.
type Signal struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Message string `json:"message"`
}

// Reason says why a call is denied.
type Reason struct {
	ID      string `json:"id"`
	Message string `json:"message"`
	Path    string `json:"path"`
}

// HumanInTheLoop is what the policy demands of a human before the call runs.
type HumanInTheLoop struct {
	Mode                   string    `json:"mode"`   // REQUIRED, DISABLED
	Source                 string    `json:"source"` // spec, default, threshold, floor, rule
	RuleID                 string    `json:"ruleId"`
	AutoApproved           bool      `json:"autoApproved"`
	Prompt                 string    `json:"prompt"` // template; the executor fills it
	Channels               []string  `json:"channels"`
	Approvers              Approvers `json:"approvers"`
	ExpirySeconds          int64     `json:"expirySeconds"`
	OutOfBandExpirySeconds int64     `json:"outOfBandExpirySeconds"`
}

// Required reports whether a human has to accept. Anything but an explicit
// DISABLED is required.
func (h HumanInTheLoop) Required() bool { return h.Mode != "DISABLED" }

// Approvers says who may accept.
type Approvers struct {
	Groups   []string `json:"groups"`
	FourEyes bool     `json:"fourEyes"`
}

// Limits are rates that the server enforces; 0 = none. The first two are of
// the calls of one caller and tool.
type Limits struct {
	RatePerMinute int64 `json:"ratePerMinute"`
	Concurrency   int64 `json:"concurrency"`
	// Principal is what all calls of one caller share, whatever the tool.
	Principal Rates `json:"principal"`
	// Tool is what all callers of one tool share.
	Tool Rates `json:"tool"`
}

// Rates bound calls: how many may begin in a minute, how many may run at one
// time; 0 = any number.
type Rates struct {
	RatePerMinute int64 `json:"ratePerMinute"`
	Concurrency   int64 `json:"concurrency"`
}

// IsolationMinimum is the weakest isolation the call may run under.
type IsolationMinimum struct {
	Minimum string `json:"minimum"` // none, in-process, process, locked
}

// Digest names what an approval is bound to: everything in d that changes
// what would run or who had to accept it, and nothing that merely differs
// from one evaluation to the next.
func (d *Decision) Digest() (string, error) {
	ids := make([]string, len(d.RiskSignals))
	for i, s := range d.RiskSignals {
		ids[i] = s.ID
	}
	return digest.JSON(struct {
		Allow           bool            `json:"allow"`
		EffectivePolicy EffectivePolicy `json:"effectivePolicy"`
		RiskLevel       string          `json:"riskLevel"`
		Signals         []string        `json:"signals"`
		HumanInTheLoop  HumanInTheLoop  `json:"humanInTheLoop"`
		ProfileChain    []string        `json:"profileChain"`
	}{d.Allow, d.EffectivePolicy, d.RiskLevel, ids, d.HumanInTheLoop, d.ProfileChain})
}

// InputDigest names the caller's part of the policy input of one decision.
// The arguments enter by their keyed digest, so that they cannot be guessed.
func InputDigest(revision, specDigest string, p Principal, origin Origin, paramsDigest, now string, approvals json.RawMessage) (string, error) {
	if approvals == nil {
		approvals = json.RawMessage("[]")
	}
	return digest.JSON(map[string]any{
		"policyRevision": revision, "specDigest": specDigest, "principal": p,
		"call": map[string]any{"origin": origin, "paramsDigest": paramsDigest}, "now": now, "approvals": approvals,
	})
}

// Standing is the approvals part of a policy input: how an installation asks
// for a tool in the place of what its document says. "" is that it keeps
// nothing, and gives an empty list. What follows from it is for the policy.
func Standing(mode string) json.RawMessage {
	if mode == "" {
		return json.RawMessage("[]")
	}
	raw, err := json.Marshal([]map[string]string{{"kind": "standing", "mode": mode}})
	if err != nil { // texts always have a JSON form
		return json.RawMessage("[]")
	}
	return raw
}
