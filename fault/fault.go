// Package fault is the one error type of toolwarrant: a stable code, a reason,
// a sentence for the person, and the place in the document that caused it.
//
// Every refusal and failure that leaves a package of this module towards a
// user (CLI, MCP result, audit record) is a *fault.Error. The cause stays
// apart: it is for logs and errors.Is, never for the wire.
//
// The table of codes is a fixed contract: codes are added, never changed.
// cue/errors.cue states the same table and a test keeps the two equal.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolwarrant/toolwarrant/internal/optional"
)

// Code is the stable name of one kind of failure.
type Code string

// The fixed table. See Code.Outcome and Code.Exit for what follows from each.
const (
	SpecParse       Code = "SPEC_PARSE"
	SpecInvariant   Code = "SPEC_INVARIANT"
	LocalPassFailed Code = "LOCAL_PASS_FAILED"

	ResolverReject   Code = "RESOLVER_REJECT"
	PolicyDenied     Code = "POLICY_DENIED"
	NotFound         Code = "NOT_FOUND"
	NotActive        Code = "NOT_ACTIVE"
	Revoked          Code = "REVOKED"
	InvalidArguments Code = "INVALID_ARGUMENTS"
	Unauthenticated  Code = "UNAUTHENTICATED"
	RateLimited      Code = "RATE_LIMITED"
	ApprovalDenied   Code = "APPROVAL_DENIED"
	ApprovalPending  Code = "APPROVAL_PENDING"

	InvalidInput  Code = "INVALID_INPUT"
	HelperRuntime Code = "HELPER_RUNTIME"
	Security      Code = "SECURITY"

	ResourceLimit Code = "RESOURCE_LIMIT"
	Timeout       Code = "TIMEOUT"
	JSError       Code = "JS_ERROR"
	RuntimeError  Code = "RUNTIME_ERROR"
	Interrupted   Code = "INTERRUPTED"

	AuditUnavailable  Code = "AUDIT_UNAVAILABLE"
	PolicyUnavailable Code = "POLICY_UNAVAILABLE"

	// Usage is wrong use of the command line, of the configuration, or a path
	// that cannot be read. It never appears in a call.
	Usage Code = "USAGE"
	// NotProven is the answer no to a question about a log: what was asked for
	// is not there, or what was given does not prove it. It never appears in a
	// call.
	NotProven Code = "NOT_PROVEN"
	// Internal is a defect of toolwarrant itself, a recovered panic included.
	Internal Code = "INTERNAL"
)

// Outcome is how a call ended.
type Outcome string

// The three outcomes of a call. The zero value is not an outcome.
const (
	OK     Outcome = "OK"
	Denied Outcome = "DENIED"
	Failed Outcome = "ERROR"
)

// Exit statuses of the command line.
const (
	ExitOK     = 0 // fine
	ExitNo     = 1 // the answer is no
	ExitUsage  = 2 // wrong usage, or a path that cannot be read
	ExitSystem = 3 // the system itself failed
)

// Outcome says how a call that fails with c is recorded. An unknown code is
// an error, never OK.
func (c Code) Outcome() Outcome {
	switch c {
	case ResolverReject, PolicyDenied, NotFound, NotActive, Revoked, InvalidArguments, Unauthenticated,
		RateLimited, ApprovalDenied, ApprovalPending, AuditUnavailable, PolicyUnavailable:
		return Denied
	}
	return Failed
}

// Exit is the exit status of a command that ends with c.
func (c Code) Exit() int {
	switch c {
	case "":
		return ExitOK
	case Usage:
		return ExitUsage
	case AuditUnavailable, PolicyUnavailable, Internal:
		return ExitSystem
	}
	return ExitNo
}

// Error is a failure with its place. The zero value of an optional field
// means that there is none.
type Error struct {
	Code    Code
	Reason  string // stable slug below the code, such as "path-escapes-base"
	Message string // one sentence for a person: what is wrong and what to do
	File    string // the document, as the user named it
	Pointer string // RFC 6901 pointer into File
	Line    int    // 1-based, 0 = unknown
	Column  int    // 1-based in bytes, 0 = unknown

	cause error
}

// New makes an error with a formatted message.
func New(code Code, reason, format string, args ...any) *Error {
	return &Error{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// At returns a copy of e that points into a document.
func (e *Error) At(file, pointer string, line, column int) *Error {
	c := *e
	c.File, c.Pointer, c.Line, c.Column = file, pointer, line, column
	return &c
}

// Because returns a copy of e that keeps cause for errors.Is and for logs.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Unwrap gives the cause, which is never shown to a caller.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error of the same code and, where target
// names one, the same reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Reason == "" || t.Reason == e.Reason)
}

// Error is the text form: place, code, reason, message.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(string(e.Code))
	if e.Reason != "" {
		b.WriteString(" (" + e.Reason + ")")
	}
	if e.Pointer != "" {
		b.WriteString(" at " + Dotted(e.Pointer))
	}
	b.WriteString(": " + e.Message)
	return b.String()
}

// MarshalJSON writes all seven fields; one without value is null. The pointer
// of text that is no JSON document is "", the whole of it (RFC 6901).
func (e *Error) MarshalJSON() ([]byte, error) {
	pointer := optional.Of(e.Pointer)
	if pointer == nil && e.Code == SpecParse {
		pointer = new(string)
	}
	return json.Marshal(struct {
		Code    Code    `json:"code"`
		Reason  *string `json:"reason"`
		Message string  `json:"message"`
		File    *string `json:"file"`
		Pointer *string `json:"pointer"`
		Line    *int    `json:"line"`
		Column  *int    `json:"column"`
	}{e.Code, optional.Of(e.Reason), e.Message, optional.Of(e.File), pointer, optional.Of(e.Line), optional.Of(e.Column)})
}

// From gives the *Error inside err. An error of any other kind becomes an
// INTERNAL one whose text stays in the cause, so that nothing leaks.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(Internal, "unexpected", "an unexpected failure inside toolwarrant; see the log").Because(err)
}

// Dotted turns an RFC 6901 pointer into the dotted form of the Safe Tool
// Specification, section 15: /params/2/testValue is params[2].testValue.
func Dotted(pointer string) string {
	var b strings.Builder
	for i, tok := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		if tok != "" && strings.Trim(tok, "0123456789") == "" {
			b.WriteString("[" + tok + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(tok)
	}
	return b.String()
}
