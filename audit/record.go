// Package audit keeps the log that proves what agents were allowed to do:
// NDJSON records of schema toolwarrant.audit/1 in one hash chain per home,
// written by any number of processes, durable before an answer leaves. The
// chain goes through one file that grows and any number of closed ones.
//
// It owns the record types, the chain, the writer with its group commit,
// recovery after a crash, and verification. It imports nothing of the
// pipeline: what is recorded comes in as values. Masking comes in as a
// Masker and is applied here, to every caller- or tool-controlled field, just
// before a record is encoded. The executor, the services and the command line
// import it; it imports the vocabulary (decision, spec, fault, digest) only.
//
// # A line
//
// One JSON object, ended by one newline. The members stand in this order:
// time (RFC 3339, UTC, microseconds), schema, seq (1 for the first line, then
// one more each), prev, phase, writer; then the members of Call in the order
// of its fields, or kind, digest, bytes of an object, or kind, principal,
// detail of an event; and last sum. A member without value is null, never
// absent; a list is [] when it is known to be empty.
//
//	sum  = "sha256:" + hex SHA-256 of the bytes of the line before `,"sum":`
//	prev = "sha256:" + hex SHA-256(0x00 || previous line without its newline)
//
// prev is null on the first line of a chain. It equals the leaf hash of
// RFC 6962, section 2.1, so that a Merkle tree over the same lines needs no
// rewriting. Both are taken over raw bytes: to check them needs no JSON
// parser and no canonical form.
//
// # What it protects against
//
// Whoever edits, removes, inserts or swaps lines is found by Verify, which
// names the line. Whoever can write the file can also compute a whole new
// chain, or cut the file at the end of a line; this is found only by
// comparing with a head that was kept elsewhere (Report.Head). A line that
// was acknowledged survives kill -9 at any moment, and a crash of the machine
// as far as the disk keeps what it said it had synced. Strings that a caller
// or a tool chose cannot forge a line (JSON escapes every control character)
// nor grow one without bound (see limits.go).
package audit

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Schema is the version of the record format.
const Schema = "toolwarrant.audit/1"

// Phase says which moment a record is about.
type Phase string

// The phases. Exactly one close per call.
const (
	PhaseAsk    Phase = "ask"
	PhaseOpen   Phase = "open"
	PhaseClose  Phase = "close"
	PhaseObject Phase = "object"
	PhaseEvent  Phase = "event"
)

// HITLOutcome is how the human step of a call ended.
type HITLOutcome string

// The human outcomes of a close record.
const (
	HITLNotRequired  HITLOutcome = "NOT_REQUIRED"
	HITLAutoApproved HITLOutcome = "AUTO_APPROVED"
	HITLAccepted     HITLOutcome = "ACCEPTED"
	HITLModified     HITLOutcome = "MODIFIED"
	HITLDeclined     HITLOutcome = "DECLINED"
	HITLCancelled    HITLOutcome = "CANCELLED"
	HITLTimeout      HITLOutcome = "TIMEOUT"
	HITLUnsupported  HITLOutcome = "UNSUPPORTED"
	HITLMismatch     HITLOutcome = "MISMATCH"
	HITLExpired      HITLOutcome = "EXPIRED"
	HITLPending      HITLOutcome = "PENDING"
	HITLOwnTest      HITLOutcome = "OWN_TEST"
	// HITLReplayed: an accepted call that ran a moment ago was made again and
	// got the same outcome; nothing ran. relatedCallId is the one that ran.
	HITLReplayed HITLOutcome = "REPLAYED"
)

// Call is the body of an ask, open or close record. Fields without value are
// null, never absent. Seq, prev, writer, time and sum belong to the writer.
type Call struct {
	Phase         Phase                     `json:"phase"`
	CallID        string                    `json:"callId"`
	RelatedCallID *string                   `json:"relatedCallId"`
	TraceID       *string                   `json:"traceId"`
	Origin        decision.Origin           `json:"origin"`
	Principal     *Principal                `json:"principal"`
	Tool          *decision.Tool            `json:"tool"` // as far as it is known; toolId and specDigest are "" for an unknown tool
	Policy        *Policy                   `json:"policy"`
	Decision      *Decision                 `json:"decision"`
	ToolSafety    *spec.ToolSafety          `json:"toolSafety"`
	Effective     *decision.EffectivePolicy `json:"effectivePolicy"`
	RiskLevel     *string                   `json:"riskLevel"`
	RiskSignals   []decision.Signal         `json:"riskSignals"`
	Reasons       []decision.Reason         `json:"reasons"`
	HITL          *HITL                     `json:"humanInTheLoop"`
	Params        json.RawMessage           `json:"params"` // masked by the writer
	ParamsDigest  *string                   `json:"paramsDigest"`
	Outcome       *fault.Outcome            `json:"outcome"` // close only
	Error         *Error                    `json:"error"`
	Duration      *Duration                 `json:"durationMs"`
	Usage         *Usage                    `json:"usage"`
	Result        *Result                   `json:"result"`
	Isolation     *worker.Isolation         `json:"isolation"`
	TestMode      *string                   `json:"testMode"` // live or fixture; null for what is no Local Pass
	Shadow        *Shadow                   `json:"shadow"`   // close only; null without a shadow policy
	// Sandbox are the commands that the code ran; close only, null where the
	// tool can start none.
	Sandbox []Sandbox `json:"sandbox"`

	// Drop are fields of this record that are left out, of decision.Removable.
	// It is no part of the record, whose Decision names what was left out.
	Drop []string `json:"-"`
}

// Principal is the caller as the record keeps it.
type Principal struct {
	Subject  string   `json:"subject"`
	Method   string   `json:"method"`
	ClientID string   `json:"clientId"`
	Groups   []string `json:"groups"`
}

// Policy names the policy that decided.
type Policy struct {
	Revision     string   `json:"revision"`
	ProfileChain []string `json:"profileChain"`
}

// Decision names the decision, with what is needed to make it again.
type Decision struct {
	ID             string          `json:"id"`
	DecidedAt      string          `json:"decidedAt"`
	InputDigest    string          `json:"inputDigest"`
	Input          json.RawMessage `json:"input"` // {principal, call, now, approvals}, masked by the writer
	MaskedPointers []string        `json:"maskedPointers"`
}

// HITL is the human step.
type HITL struct {
	Mode         string      `json:"mode"`
	Outcome      HITLOutcome `json:"outcome"`
	Approver     *string     `json:"approver"`
	Channel      *string     `json:"channel"`
	ElapsedMs    *int64      `json:"elapsedMs"`
	PromptDigest *string     `json:"promptDigest"`
	// ExpiresAt is until when the question may be answered, RFC 3339. An ask
	// record carries it, so that an abandoned question can be closed later by
	// anybody; null elsewhere.
	ExpiresAt *string `json:"expiresAt"`
	// RuleID is the rule that asked or let the call pass, FourEyes whether it
	// had to be somebody else than the caller; null where the call ended before
	// anybody could be asked, and absent from records of before they were kept.
	RuleID   *string `json:"ruleId"`
	FourEyes *bool   `json:"fourEyes"`
	// OriginalParamsDigest names the arguments that the caller sent, where an
	// approver put others in their place; those are the params of the record.
	// Absent from records of before it was kept.
	OriginalParamsDigest *string `json:"originalParamsDigest"`
}

// Error is the failure of a call, masked by the writer.
type Error struct {
	Code    fault.Code `json:"code"`
	Reason  *string    `json:"reason"`
	Message string     `json:"message"`
}

// Duration is where the time went, in milliseconds. Human time is in
// Approve and in no other part.
type Duration struct {
	Decide  float64 `json:"decide"`
	Approve float64 `json:"approve"`
	Execute float64 `json:"execute"`
	Total   float64 `json:"total"`
}

// Usage is what the call used of the world.
type Usage struct {
	Statements  *int64   `json:"statements"`
	Egress      []Egress `json:"egress"`
	FS          []FSUse  `json:"fs"`
	LogLines    int64    `json:"logLines"`
	MemoryBytes *int64   `json:"memoryBytes"`
}

// Egress is one network exchange, or one refused attempt (status 0).
type Egress struct {
	Host   string `json:"host"`
	IP     string `json:"ip"`
	Status int    `json:"status"`
	Bytes  int64  `json:"bytes"`
}

// FSUse is one file operation.
type FSUse struct {
	Op    string `json:"op"`
	Path  string `json:"path"` // relative to the base
	Bytes int64  `json:"bytes"`
}

// moreReads is the operation of the entry that stands for files which a record
// had no room for, where none of them was changed.
const moreReads = "(more reads)"

// reads are the operations on files that change nothing.
var reads = map[string]bool{
	"readText": true, "readBytes": true, "list": true, "exists": true, "stat": true, "grep": true, "searchInFiles": true, "search": true,
	"lineCount": true, "slice": true, "cut": true, "sort": true, "find": true, "workspace": true, "readRoots": true, moreReads: true,
}

// Changes reports whether the operation may have changed the file. One that is
// not known, of a later version, counts as a change.
func (u FSUse) Changes() bool { return !reads[u.Op] }

// Result is what was returned, by size and digest. Content is the value
// itself, masked by the writer, where the policy asks for it; the member is
// absent elsewhere, as it is from records of before there was one.
type Result struct {
	Bytes   int64           `json:"bytes"`
	Digest  string          `json:"digest"`
	Content json.RawMessage `json:"content,omitempty"`
}

// Object is a spec or policy artefact that enters the chain once per digest.
type Object struct {
	Kind    string          // "spec", "policy"
	Digest  string          // of Content, sha256:...
	Content json.RawMessage // kept content-addressed beside the log
}

// Event is an administrative act.
type Event struct {
	Kind      string         // "publish", "draft", "policy.activate", "policy.refuse", "approval.decide", "key.create", "key.revoke", "key.rotate", "reload", "flood", "torn"
	Principal *Principal     // who did it, nil for the system
	Detail    map[string]any // small, JSON; masked
}

// Masker replaces secrets. JSON masks string leaves and member names of a
// JSON value and reports the pointers that it changed. Implementations are
// safe for concurrent use.
type Masker interface {
	String(s string) string
	JSON(raw json.RawMessage) (masked json.RawMessage, pointers []string, err error)
}

// Log is what the pipeline writes to. Every method fails with
// AUDIT_UNAVAILABLE, and then the call must not go on.
type Log interface {
	// Ask is durable (synced) when it returns.
	Ask(ctx context.Context, c Call, m Masker) error
	// Open is written when it returns, and synced if sync is set.
	Open(ctx context.Context, c Call, sync bool, m Masker) error
	// Close is durable when it returns.
	Close(ctx context.Context, c Call, m Masker) error
	// Object enters an artefact unless its digest is in the chain already.
	Object(ctx context.Context, o Object) error
	// Event is durable when it returns.
	Event(ctx context.Context, e Event, m Masker) error
}

// Sink receives finished lines (without the trailing newline) in chain order.
// Sinks live in sub-packages. Write returns when the batch is accepted; sync
// asks for durability. A required sink that fails refuses calls.
type Sink interface {
	Write(ctx context.Context, lines [][]byte, sync bool) error
	Close() error
}
