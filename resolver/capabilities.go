package resolver

import (
	"bytes"
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
	c.AllowNet = []string{}
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.IsNondeterministic() || slices.Contains(forbidden, b.Name) ||
			strings.HasPrefix(b.Name, "rand.") || strings.HasPrefix(b.Name, "io.jwt.")
	})
	c.AllowNet = []string{}
	return c
}

// ownCapabilities are those of this program, with the text that a revision
// names and a bundle carries.
func ownCapabilities() (*ast.Capabilities, []byte, error) {
	c := capabilities()
	text, err := json.Marshal(c)
	if err != nil {
		return nil, nil, fault.New(fault.Internal, "capabilities", "the capabilities cannot be written").Because(err)
	}
	return c, text, nil
}

// readCapabilities reads the capabilities that a policy was built for. They
// may lack what a newer program has, so that a bundle outlives an upgrade;
// they may not have what this one forbids or does not know.
func readCapabilities(text []byte) (*ast.Capabilities, error) {
	c, err := ast.LoadCapabilitiesJSON(bytes.NewReader(text))
	if err != nil {
		return nil, bundleFault("bundle-capabilities", "its capabilities cannot be read").Because(err)
	}
	own := capabilities()
	known := map[string]*ast.Builtin{}
	for _, b := range own.Builtins {
		known[b.Name] = b
	}
	for _, b := range c.Builtins {
		k := known[b.Name]
		if k == nil || k.Decl == nil || b.Decl == nil || k.Decl.String() != b.Decl.String() || k.Infix != b.Infix {
			return nil, bundleFault("bundle-capabilities",
				"it was built for the builtin %s, which this program does not give to a policy; build it again with this version", b.Name)
		}
	}
	for _, f := range slices.Concat(c.Features, c.FutureKeywords) {
		if !slices.Contains(own.Features, f) && !slices.Contains(own.FutureKeywords, f) {
			return nil, bundleFault("bundle-capabilities", "it was built for the language feature %s, which this program does not have; build it again with this version", f)
		}
	}
	if len(c.AllowNet) > 0 {
		return nil, bundleFault("bundle-capabilities", "its capabilities allow the network, which no policy may use")
	}
	c.AllowNet = []string{}
	c.Builtins = slices.DeleteFunc(slices.Clone(own.Builtins), func(b *ast.Builtin) bool {
		return !slices.ContainsFunc(c.Builtins, func(o *ast.Builtin) bool { return o.Name == b.Name })
	})
	return c, nil
}
