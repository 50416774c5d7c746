package decision

import (
	"slices"
	"strings"
)

// Form says what the record holds in place of a value of the arguments.
type Form string

// The forms, the strongest first: each tells less than those after it.
const (
	FormDrop Form = "drop" // nothing: the member is absent
	FormMask Form = "mask" // "***"
	FormHMAC Form = "hmac" // hmac-sha256:<key id>:<hex>; tells who has the key that two values are equal
	FormHash Form = "hash" // sha256:<hex>; tells everybody that, and whoever can guess the value what it is
)

// Forms lists the forms, the strongest first.
var Forms = []Form{FormDrop, FormMask, FormHMAC, FormHash}

// Known reports whether f is one of Forms.
func (f Form) Known() bool { return slices.Contains(Forms, f) }

// AtLeast reports whether f tells no more than other. The empty form shows the
// value as it is.
func (f Form) AtLeast(other Form) bool { return f.strength() >= other.strength() }

func (f Form) strength() int {
	at := slices.Index(Forms, f)
	switch {
	case f == "":
		return 0
	case at < 0: // of no known meaning: it may have been meant to hide all
		return len(Forms)
	}
	return len(Forms) - at
}

// Record steers what the audit record keeps of a call, beside Decision.Mask,
// which older policies give alone. The zero value keeps the arguments as they
// are, and the result by its digest.
type Record struct {
	// How holds RFC 6901 pointers into the arguments, and how each is kept.
	How map[string]Form `json:"how"`
	// Drop holds fields of the record that are left out, each one of Removable.
	Drop []string `json:"drop"`
	// Result is "content" where the result is kept as it is, masked; else "".
	Result string `json:"result"`
}

// ResultContent is the value of Record.Result that keeps the result.
const ResultContent = "content"

// Removable are the fields of an audit record that a policy may have left out.
// What a call is accounted for with is not among them: ids, digests, times,
// the verdict and what was enforced.
var Removable = []string{
	"/decision/input",
	"/error/message",
	"/humanInTheLoop/approver",
	"/params",
	"/principal/clientId",
	"/principal/groups",
	"/shadow",
	"/traceId",
	"/usage/egress",
	"/usage/fs",
}

// Hidden merges what the decision says of the arguments: RFC 6901 pointers
// into them, and the strongest form that is asked for at each. A pointer of
// Mask hides the argument that it goes into as a whole. Nil where nothing is
// hidden.
func (d *Decision) Hidden() map[string]Form {
	if len(d.Mask)+len(d.Record.How) == 0 {
		return nil
	}
	out := make(map[string]Form, len(d.Mask)+len(d.Record.How))
	put := func(pointer string, f Form) {
		if !out[pointer].AtLeast(f) {
			out[pointer] = f
		}
	}
	for pointer, f := range d.Record.How {
		put(pointer, f)
	}
	for _, pointer := range d.Mask {
		first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		put("/"+first, FormMask)
	}
	return out
}
