package lint

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// TestMentions: the policy is told which other tools a document names, also
// those that are read after it, and nothing else.
func TestMentions(t *testing.T) {
	doc := func(name, description, more string) string {
		return `{"name":"` + name + `","description":"` + description + `","code":"return 1","codeType":"Javascript"` + more + `}`
	}
	dir := tree(t, map[string]string{
		"a.json": doc("first", "Calls itself first. Then THIRD, or bundled-one; not bundled.", ""),
		"b.json": doc("second", "None.", `,"params":[{"name":"p","description":"what first gave","required":false,"type":"STRING"}],"humanInTheLoop":{"promptTemplate":"third?"}`),
		"c.json": doc("third", "No names: firsts, second2.", ""),
		"d.json": `{"name":"broken"}`,
	})
	got := map[string][]string{}
	o := Options{Others: []string{"bundled-one", "first"}, Resolve: func(_ context.Context, s *spec.Spec, mentions []string) ([]*fault.Error, []Finding, error) {
		got[s.Name] = mentions
		return nil, nil, nil
	}}
	if _, err := Run(context.Background(), []string{filepath.Join(dir, "a.json"), dir}, o); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"first": {"bundled-one", "third"}, "second": {"first", "third"}, "third": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
