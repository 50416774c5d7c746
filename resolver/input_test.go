package resolver

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
	cuejson "cuelang.org/go/encoding/json"
	regoast "github.com/open-policy-agent/opa/v1/ast"

	policycue "github.com/toolwarrant/toolwarrant/cue"
)

// The input that the engine builds is the input that the format states.
func TestInputHasItsFormat(t *testing.T) {
	schema := formats(t).LookupPath(cue.ParsePath("#Input"))
	e := newResolver(t, Options{Operator: Operator{PrivateHosts: []string{"a.example:80"}, Grants: []Grant{{Names: []string{"X"}}}}}).active.Load()
	fields := overrides(map[string]any{
		"networkMode": "allowlist", "hostsAllow": []string{"a.example"}, "fileRead": true, "fileWrite": false,
		"fsBasePath": "x", "destructive": true, "addAllowClasses": []string{"a.B"},
	})
	fields["humanInTheLoop"] = map[string]any{"mode": "REQUIRED", "promptTemplate": "?"}
	fields["x-toolwarrant-profile"] = "standard"
	fields["description"], fields["tags"] = "Größe", []string{"util"}
	fields["code"] = "let größe = 'x'; while (true) größe++"
	fields["toolSafety"] = map[string]any{"version": "1.0", "runtime": map[string]any{"helpers": []string{"safety.fs/v1"}}}
	for _, d := range []map[string]any{nil, fields} {
		req := request(doc(t, d))
		req.Args = json.RawMessage(`{"x":[1,2.5,"a",null]}`)
		pl, err := e.planFor(context.Background(), req.Tool, req.Principal)
		if err != nil {
			t.Fatal(err)
		}
		input, err := e.input(pl, req)
		if err != nil {
			t.Fatal(err)
		}
		document, err := documentTerm(req.Tool.Spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		input.(regoast.Object).Insert(regoast.StringTerm("document"), document)
		native, err := regoast.JSON(input)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(native)
		if err != nil {
			t.Fatal(err)
		}
		expr, err := cuejson.Extract("input.json", raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Unify(cuecontext.New().BuildExpr(expr)).Validate(cue.Concrete(true)); err != nil {
			t.Errorf("%v\n%s", err, raw)
		}
	}
}

// formats builds every definition that lies beside the policy.
func formats(t *testing.T) cue.Value {
	t.Helper()
	inst := build.NewContext().NewInstance("", nil)
	files, err := fs.Glob(policycue.FS, "*.cue")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := policycue.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if err := inst.AddSyntax(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := inst.Complete(); err != nil {
		t.Fatal(err)
	}
	return cuecontext.New().BuildInstance(inst)
}
