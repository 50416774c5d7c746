package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

// A tool of an operator's folder is served exactly as it passed.
func TestFolderNeedsAPass(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	one, two := filepath.Join(dir, "one.json"), filepath.Join(dir, "two")
	writeFile(t, one, docJSON("id-1", "one", "return 1;", false))
	writeFile(t, filepath.Join(two, "spec.json"), `{"toolId":"id-2","name":"two","description":"Returns two.","params":[],"codeType":"Javascript","draft":false}`)
	writeFile(t, filepath.Join(two, "action.js"), "return 2;\n")
	open := func() *Catalog { return mustOpen(t, Options{Home: home, Dirs: []string{dir}}) }
	c := open()
	wantState(t, c, "one", StateDraft, "not passed its test here; publish it with: toolwarrant test "+one+" --write")
	wantState(t, c, "two", StateDraft, "toolwarrant test "+two+" --write")

	for _, name := range []string{"one", "two"} {
		tool := lookup(t, c, name)
		if err := c.PassBeside(t.Context(), tool, &Pass{PassedDigest: tool.Spec.Digest(), Mode: "live", Runtime: "r", PolicyRevision: "p"}); err != nil {
			t.Fatal(err)
		}
		wantState(t, c, name, StateActive, "")
	}
	for _, file := range []string{filepath.Join(dir, passesFile), filepath.Join(two, passesFile)} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		conforms(t, "passed.schema.json", file, data)
	}
	if c = open(); len(c.Findings()) > 0 {
		t.Errorf("passed.json is taken for a tool: %v", c.Findings())
	}
	wantState(t, c, "one", StateActive, "")

	writeFile(t, filepath.Join(two, "action.js"), "return 22;\n")
	c = open()
	wantState(t, c, "two", StateDraft, "changed after it passed its test")
	if err := c.PassBeside(t.Context(), lookup(t, c, "one"), nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "one", StateDraft, "not passed its test here")

	// What passed in this home counts too, and what was taken out stays out.
	setPass(t, c, lookup(t, c, "one"))
	wantState(t, c, "one", StateActive, "")
	if err := c.SetPass(t.Context(), "id-1", nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "one", StateDraft, "taken out of service")

	// An operator may vouch for the folder as it is.
	c = mustOpen(t, Options{Dirs: []string{dir}, TrustDirs: true})
	wantState(t, c, "two", StateActive, "")
	if _, why := c.Exposed(lookup(t, c, "two")); why != "the operator trusts its folder" {
		t.Errorf("it is served because %s", why)
	}
}

// A file of passes that says nothing makes drafts, and is not written over.
func TestDamagedPasses(t *testing.T) {
	for why, content := range map[string]string{
		"no JSON": "{", "another version": `{"version":2,"tools":{}}`, "another shape": `{"version":1,"tools":{},"more":1}`, "too large": strings.Repeat(" ", maxPassesBytes+1),
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "one.json"), docJSON("id-1", "one", "return 1;", false))
			writeFile(t, filepath.Join(dir, passesFile), content)
			c := mustOpen(t, Options{Dirs: []string{dir}})
			wantState(t, c, "one", StateDraft, "not passed")
			if got := findingReasons(c); len(got) != 1 || got[0] != "bad-passes" {
				t.Errorf("findings: %v", c.Findings())
			}
			wantFault(t, c.PassBeside(t.Context(), lookup(t, c, "one"), &Pass{PassedDigest: noDigest}), fault.Usage, "bad-passes", "delete it")
			if data, _ := os.ReadFile(filepath.Join(dir, passesFile)); string(data) != content {
				t.Error("the file was written over")
			}
		})
	}
}

// The passes of the home stand in state.json alone.
func TestPassesOfTheHome(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "catalog")
	writeFile(t, filepath.Join(dir, "one.json"), docJSON("id-1", "one", "return 1;", false))
	c := mustOpen(t, Options{Home: home})
	pass := &Pass{PassedDigest: lookup(t, c, "one").Spec.Digest(), Mode: "live", Runtime: "r", PolicyRevision: "p"}
	if err := c.PassBeside(context.Background(), lookup(t, c, "one"), pass); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, passesFile)); err == nil {
		t.Error("the home has a passed.json")
	}
	p := passes{Version: 1, Tools: map[string]Pass{"id-1": nextPass(Pass{}, pass, c.now())}}
	if err := p.write(filepath.Join(dir, passesFile)); err != nil {
		t.Fatal(err)
	}
	c = mustOpen(t, Options{Home: home, TrustDirs: true})
	wantState(t, c, "one", StateDraft, "not passed its test here")
	if len(c.Findings()) > 0 {
		t.Error(c.Findings())
	}
}
