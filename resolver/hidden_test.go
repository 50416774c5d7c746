package resolver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readers are rules about arguments, and which of two hidden ones they read.
var readers = map[string]struct {
	body  string
	reads []string
}{
	"nothing":               {`input.call.origin == "studio"`, nil},
	"another argument":      {`input.call.args.text == "x"`, nil},
	"the argument":          {`input.call.args.token == "x"`, []string{"/call/args/token"}},
	"the argument, negated": {`not input.call.args.token`, []string{"/call/args/token"}},
	"a part of it":          {`input.call.args.token.inner == 1`, []string{"/call/args/token"}},
	"all arguments":         {`count(input.call.args) > 5`, []string{"/call/args/token", "/call/args/deep/er"}},
	"some argument":         {`some v in input.call.args` + "\n\t" + `v == "x"`, []string{"/call/args/token", "/call/args/deep/er"}},
	"an argument by name":   {`some name in {"text", "token"}` + "\n\t" + `input.call.args[name] == "x"`, []string{"/call/args/token", "/call/args/deep/er"}},
	"through a variable":    {`args := input.call.args` + "\n\t" + `args.token == "x"`, []string{"/call/args/token", "/call/args/deep/er"}},
	"through a function":    {`_probe(input.call.args.deep)`, []string{"/call/args/deep/er"}},
	"the whole input":       {`walk(input, [_, "x"])`, []string{"/call/args/token", "/call/args/deep/er"}},
	"in a comprehension":    {`count({v | v := input.call.args.token}) > 5`, []string{"/call/args/token"}},
	"in an every":           {`every v in [input.call.args.token] { v == "x" }`, []string{"/call/args/token"}},
	"not as far as that":    {`input.tool.name == "other"` + "\n\t" + `input.call.args.token == "x"`, nil},
}

// TestResolveHidden: what is read is noticed, also where an index or an
// early end would pass over it; and what is not noticed makes no difference,
// whatever stands in its place.
func TestResolveHidden(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	ctx := context.Background()
	for name, c := range readers {
		t.Run(name, func(t *testing.T) {
			module := "package toolwarrant.access\n\nimport rego.v2\n\nreasons contains {\"id\": \"probe\", \"message\": \"m\", \"path\": \"\"} if {\n\t" + c.body + "\n}\n"
			if strings.Contains(c.body, "_probe") {
				module += "\n_probe(v) if v.er == \"x\"\n"
			}
			r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/access/probe.rego": module}), Operator: Operator{BasePath: "/base"}})
			req := request(doc(t, nil))
			hidden := []string{"/call/args/token", "/call/args/deep/er"}
			decided := map[bool]bool{}
			var read []string
			for _, args := range []string{
				`{"text":"a","token":"***","deep":{"er":"***"}}`,
				`{"text":"a","token":"x","deep":{"er":"x"}}`,
				`{"text":"a","token":{"inner":1},"deep":{"er":[1,2,3]}}`,
			} {
				req.Args = json.RawMessage(args)
				d, again, err := r.ResolveHidden(ctx, req, hidden)
				if err != nil {
					t.Fatal(err)
				}
				plain, err := r.Resolve(ctx, req)
				if err != nil || plain.Allow != d.Allow {
					t.Errorf("watched, the decision is another: %v, %v", d, err)
				}
				decided[d.Allow] = true
				if read == nil {
					read = again
				}
			}
			if diff := cmp.Diff(c.reads, read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if len(c.reads) == 0 && len(decided) > 1 {
				t.Error("a value that was not read made a difference")
			}
		})
	}
}

// TestArtefact: a policy comes back from its artefact as it was, and not
// otherwise.
func TestArtefact(t *testing.T) {
	ctx := context.Background()
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base"}})
	a, ok := r.Artefact(r.Revision())
	if !ok {
		t.Fatal("the policy in force has no artefact")
	}
	if _, ok := r.Artefact("sha256:other"); ok {
		t.Error("there is an artefact of a policy that never was")
	}
	back, err := FromArtefact(ctx, a.Content, Operator{BasePath: "/base"})
	if err != nil || back.Revision() != r.Revision() {
		t.Fatalf("revision %v, %v", back, err)
	}
	req := request(doc(t, overrides(map[string]any{"networkMode": "strict"})))
	want, err := r.Resolve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Resolve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	got.DecisionID = want.DecisionID
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{
		"altered":       strings.Replace(string(a.Content), `\"network-strict\": {\"level\": \"L3\"`, `\"network-strict\": {\"level\": \"L0\"`, 1),
		"another file":  strings.Replace(string(a.Content), `"files":{`, `"files":{"bin/x":"",`, 1),
		"another form":  strings.Replace(string(a.Content), ArtefactSchema, "toolwarrant.policy/9", 1),
		"no JSON":       "x",
		"another claim": strings.Replace(string(a.Content), r.Revision(), "sha256:0", 1),
	} {
		if text == string(a.Content) {
			t.Errorf("%s: nothing was changed", name)
		}
		_, err := FromArtefact(ctx, []byte(text), Operator{})
		wantFault(t, err, "POLICY_UNAVAILABLE", "artefact")
	}
}
