package resolver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/fault"
)

// forbidden lists builtins that a policy may not use although OPA does not
// mark every one of them: they read the world, or verify against the clock.
var forbidden = []string{
	"http.send", "net.lookup_ip_addr", "opa.runtime", "time.now_ns", "uuid.rfc4122",
}

// capabilities are OPA's own less everything that could give two answers to
// one input, so that a decision can be replayed. Time is input.now.
func capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.IsNondeterministic() || slices.Contains(forbidden, b.Name) ||
			strings.HasPrefix(b.Name, "rand.") || strings.HasPrefix(b.Name, "io.jwt.")
	})
	c.AllowNet = []string{}
	return c
}

// Capabilities is the capabilities file of the policy, for
// "opa check --capabilities".
func Capabilities() ([]byte, error) {
	b, err := json.MarshalIndent(capabilities(), "", "  ")
	if err != nil {
		return nil, fault.New(fault.Internal, "capabilities", "the capabilities cannot be written").Because(err)
	}
	return b, nil
}
