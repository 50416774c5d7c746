package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// TestPasswords: a short password has one of each kind all the same, and no
// two are equal. Many draws lack a kind: a tool that does not look at what it
// drew does not pass.
func TestPasswords(t *testing.T) {
	tools := bundledTools(t)
	i := slices.IndexFunc(tools, func(tool *catalog.Tool) bool { return tool.Spec.Name == "passwordGenerate" })
	policy := builtinPolicy(t, resolver.Operator{})
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	seen := map[string]bool{}
	for range 100 {
		reply := call(t, rt, tools[i], catalog.Case{Args: jsontext.Value(`{"length":8}`)}, policy, broker.Options{})
		var password string
		if err := json.Unmarshal(reply.Result, &password); err != nil {
			t.Fatalf("%v, %+v", err, reply.Failure)
		}
		for _, kind := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "!#$%*+-./:=?@^_~"} {
			if len(password) != 8 || !strings.ContainsAny(password, kind) {
				t.Errorf("%q has none of %s", password, kind)
			}
		}
		if seen[password] {
			t.Errorf("%q came twice", password)
		}
		seen[password] = true
	}
}
