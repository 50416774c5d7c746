// Package catalog knows which tools exist, where they come from and in which
// state they are: the bundled ones (read-only, embedded), those of operator
// folders (--catalog) and the user's own under the home.
//
// It owns state.json (what passed its Local Pass, and what was chosen about
// exposure), presets and the include/exclude rules. It does not decide who may call a
// tool: that is policy.
//
// # What it defends
//
// A tool is served only if it is exactly what somebody vouched for. A bundled
// tool has to match the digest in manifest.json. A tool under the home has to
// match the digest that passed its Local Pass, so that an edit makes it a
// draft again; so has one of an operator folder, where passed.json beside it may
// say so too, unless the operator vouches for the folder as it is. No
// user tool can take the name or the id of a bundled one, and two user tools
// cannot serve under one name. What cannot be read is named in Findings and
// is not served; a state file that cannot be read stops the catalog.
//
// It does not defend against somebody who can write state.json, which is as
// trusted as the keys beside it, or an operator folder with its passed.json.
//
// # Who may import it
//
// The executor and everything above it. It imports package spec and leaves.
package catalog

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Source says where a tool comes from; it is toolSafety.category.source.
type Source string

// The sources. An operator folder is SourceUser as far as policy goes, unless
// the config names it otherwise.
const (
	SourceBuiltin Source = "builtin"
	SourceUser    Source = "user"
)

// State of a tool (section 11.1 of the specification).
type State string

// The states. Only an ACTIVE tool is served.
const (
	StateActive              State = "ACTIVE"
	StateDraft               State = "DRAFT"
	StateMissingRequirements State = "MISSING_REQUIREMENTS"
	StateTestFailed          State = "TEST_FAILED"
	StateRevoked             State = "REVOKED" // a bundled one that is not what the manifest lists
)

// What state.json says about exposure: the first and the last in a Pass, the
// first two in Kept.Choices.
const (
	ExposureExposed = "exposed" // served when the tool is ACTIVE
	ExposureHidden  = "hidden"  // not there for any caller
	ExposureDraft   = "draft"   // taken out of service
)

// Tool is one catalog entry. It is immutable; a change makes a new one.
type Tool struct {
	Spec   *spec.Spec
	Source Source
	Path   string // where it was read from; empty for a bundled one
	State  State
	Why    string   // one sentence for a state other than ACTIVE
	Env    []string // placeholder names that its manifest grants (bundled only)
	Hidden bool     // somebody chose that it is not there for callers, in any state
	// Approval is how this installation asks for it, in the place of what its
	// document says (bundled only); "" = as the document says.
	Approval string
	// Findings are the rules between its fields that its document breaks
	// (SPEC_INVARIANT). With any it is a DRAFT, which no test publishes.
	Findings []*fault.Error

	vouched string // the digest that was checked when it was loaded; "" = it is of no catalog
}

// Pass is what state.json keeps per toolId.
type Pass struct {
	PassedDigest   string    `json:"passedDigest"`
	At             time.Time `json:"at"`
	Mode           string    `json:"mode"` // live, fixture
	Runtime        string    `json:"runtime"`
	PolicyRevision string    `json:"policyRevision"`
	Exposure       string    `json:"exposure"` // exposed, draft; SetPass sets it
}

// Store gives tools. Implementations are safe for concurrent use and swap
// their content atomically on reload.
type Store interface {
	// Lookup finds a tool by name or toolId in any state; NOT_FOUND when
	// there is none.
	Lookup(ctx context.Context, nameOrID string) (*Tool, error)
	// List gives all tools, sorted by name.
	List(ctx context.Context) ([]*Tool, error)
	// Revision changes whenever List could give another answer.
	Revision() string
	// SetPass records a Local Pass of exactly that digest (nil makes a draft).
	SetPass(ctx context.Context, toolID string, pass *Pass) error
	// Reload reads everything anew; on error the last good content stays.
	Reload(ctx context.Context) error
}
