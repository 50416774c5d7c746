package catalog

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

func TestVerifyFindsWhatChangedAfterLoading(t *testing.T) {
	for name, change := range map[string]func(*spec.Spec){
		"one byte of the code": func(s *spec.Spec) { s.Code = s.Code[:len(s.Code)-1] + " " },
		"the description":      func(s *spec.Spec) { s.Description += "." },
		"approval dropped":     func(s *spec.Spec) { s.HumanInTheLoop = nil },
		"a static variable": func(s *spec.Spec) {
			s.StaticVariables = append(s.StaticVariables, spec.StaticVariable{Key: "k", Value: "v"})
		},
		"a parameter": func(s *spec.Spec) { s.Params = append(s.Params, spec.Param{Name: "more", Type: "STRING"}) },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := readBundle(copyBundled(t)) // not the one that the other tests share
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "catalog", "mine.json"), docJSON("id-mine", "mine", "return 1;", false, `, "humanInTheLoop": {"mode": "DISABLED"}`))
			c, err := open(context.Background(), Options{Preset: "everything", Home: home}, b)
			if err != nil {
				t.Fatal(err)
			}
			setPass(t, c, lookup(t, c, "mine"))
			for _, tool := range []string{"hash", "mine"} {
				got := lookup(t, c, tool)
				if err := got.Verify(); err != nil || got.State != StateActive {
					t.Fatalf("%s before: %s, %v", tool, got.State, err)
				}
				change(got.Spec)
				wantFault(t, lookup(t, c, tool).Verify(), fault.Revoked, "changed-in-memory", tool)
			}
			if err := lookup(t, c, "base64").Verify(); err != nil {
				t.Errorf("another tool: %v", err)
			}
		})
	}
}
