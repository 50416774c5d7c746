// Package class is the gate in front of Java.type: it alone decides whether a
// class name may be looked up at all. What an allowed name then gives is the
// runtime's business.
//
// It owns the matching rule: denies first, then allows, an entry being an
// exact name or "prefix.*" for every name below the prefix; no match is a
// refusal, and so is every name under a deny that cannot be read. It reads no policy beyond the two lists and keeps no state.
//
// Threat model: the name comes from the worker and is hostile. A spelling
// that the gate and a class table could read differently (a nested class
// behind "$", an array descriptor, white space, look-alike letters, a path) is
// refused before any list is consulted, so that what was checked is what is
// looked up.
package class

import (
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Helper is the helper name in the failures of this gate.
const Helper = "Java.type"

// Reasons of the failures.
const (
	InvalidName = "invalid-class-name"
	Denied      = "class-denied"
	NotAllowed  = "class-not-allowed"
)

// maxName bounds a class name in bytes.
const maxName = 512

// Gate holds the class lists of one call. The zero Gate refuses every name.
// It is immutable and safe for concurrent use.
type Gate struct{ allow, deny []string }

// New makes a Gate over the effective lists.
func New(allow, deny []string) Gate { return Gate{allow: allow, deny: deny} }

// Check reports whether name may be looked up: nil, or a failure with code
// INVALID_INPUT (not a class name) or SECURITY (refused).
func (g Gate) Check(name string) *worker.Failure {
	if !validName(name) {
		return failure(fault.InvalidInput, InvalidName, "[Java.type] not a class name: use the full name, such as java.time.Instant")
	}
	// A nested class is judged by its own name and by that of each class
	// around it: a deny of the outer one covers it, an allow of the outer one
	// alone does not.
	for outer := name; ; {
		if denies(g.deny, outer) {
			return failure(fault.Security, Denied, "[Java.type] denied: class "+name)
		}
		i := strings.LastIndexByte(outer, '$')
		if i <= 0 {
			break
		}
		outer = outer[:i]
	}
	if !matchAny(g.allow, name) {
		return failure(fault.Security, NotAllowed, "[Java.type] denied: class not allowed: "+name)
	}
	return nil
}

func failure(code fault.Code, reason, message string) *worker.Failure {
	return &worker.Failure{Code: string(code), Reason: reason, Helper: Helper, Message: message}
}

// denies applies the deny list. An entry that cannot be read denies every
// class: what it was meant to cover is not known, and the policy layers, which
// refuse such an entry, were not asked.
func denies(list []string, name string) bool {
	for _, entry := range list {
		if !validName(strings.TrimSuffix(entry, ".*")) || match(entry, name) {
			return true
		}
	}
	return false
}

func matchAny(list []string, name string) bool {
	for _, entry := range list {
		if match(entry, name) {
			return true
		}
	}
	return false
}

// match applies one entry. "prefix.*" does not match the bare prefix.
func match(entry, name string) bool {
	if prefix, ok := strings.CutSuffix(entry, ".*"); ok {
		return prefix != "" && strings.HasPrefix(name, prefix+".")
	}
	return entry == name
}

// validName accepts dotted ASCII identifiers and nothing else.
func validName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			c := part[i]
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
