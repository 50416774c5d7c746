// Package resolver turns a spec and a caller into a Decision: CUE parses,
// types and closes the layers and holds their constraints, Rego folds them
// and decides. It does no I/O while it decides.
package resolver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Builtin names the embedded policy wherever a policy is expected.
const Builtin = "builtin"

// Operator is what the operator of an installation, never an author, sets.
type Operator struct {
	BasePath      string   // absolute: the baseline fsBasePath
	Roots         []string // further absolute roots under which a spec's fsBasePath may lie
	AllowOpenMode bool
	PrivateHosts  []string // host:port pairs whose address may be private
	Grants        []Grant
}

// Grant lets tools resolve placeholder names. Names are exact or end in "*";
// an empty Tools, Categories or Sources list matches any.
type Grant struct {
	Names      []string `json:"names"`
	Tools      []string `json:"tools"`
	Categories []string `json:"categories"`
	Sources    []string `json:"sources"`
}

// Options configure a Resolver.
type Options struct {
	Policy   string // Builtin, a policy folder, or "" for Builtin
	Operator Operator
}

// Tool is a spec as the policy sees it.
type Tool struct {
	Spec        *spec.Spec
	Source      string   // builtin, user, ...
	ManifestEnv []string // placeholder names that a bundled tool's manifest grants
}

// Request is one question to the policy.
type Request struct {
	Tool      Tool
	Principal decision.Principal
	Origin    decision.Origin
	Args      json.RawMessage // validated arguments; nil for list and lint
	Approvals json.RawMessage // JSON array; nil = none
	Now       time.Time
}

// Resolver decides. It is safe for concurrent use; Reload swaps atomically.
type Resolver struct{}

// New compiles a policy and runs its own tests.
func New(ctx context.Context, o Options) (*Resolver, error) { panic("resolver: being written") }

// Resolve decides one request. A spec that the layers forbid is an error of
// code RESOLVER_REJECT with pointer and position; a policy that cannot decide
// is POLICY_UNAVAILABLE; a denial is a Decision with Allow false.
func (r *Resolver) Resolve(ctx context.Context, req Request) (*decision.Decision, error) {
	panic("resolver: being written")
}

// Visible says for each tool whether the principal may see it.
func (r *Resolver) Visible(ctx context.Context, p decision.Principal, tools []Tool) ([]bool, error) {
	panic("resolver: being written")
}

// Revision is the policyRevision in force.
func (r *Resolver) Revision() string { panic("resolver: being written") }
