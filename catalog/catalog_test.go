package catalog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

func reload(t *testing.T, c *Catalog) {
	t.Helper()
	if err := c.Reload(context.Background()); err != nil {
		t.Fatalf("Reload: %v", err)
	}
}

func wantState(t *testing.T, c *Catalog, name string, want State, why string) {
	t.Helper()
	tool := lookup(t, c, name)
	if tool.State != want || !strings.Contains(tool.Why, why) || want == StateActive && tool.Why != "" {
		t.Errorf("%s is %s (%s), want %s (%s)", name, tool.State, tool.Why, want, why)
	}
}

func TestUserToolLifecycle(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	writeFile(t, file, docJSON("id-mine", "mine", "return 1;", true))
	c := mustOpen(t, Options{Home: home})

	wantState(t, c, "mine", StateDraft, "says draft")
	mustPublish(t, c, "mine")
	wantState(t, c, "mine", StateActive, "")
	if !slices.Contains(exposed(t, c), "mine") {
		t.Error("an active user tool is not exposed")
	}
	wantState(t, mustOpen(t, Options{Home: home}), "mine", StateActive, "")

	// draft:false alone is worth nothing: the state file says what passed.
	writeFile(t, filepath.Join(home, "catalog", "other.json"), docJSON("id-other", "other", "return 2;", false))
	reload(t, c)
	wantState(t, c, "other", StateDraft, "has not passed")

	// An edit makes a draft, and undoing it makes what passed.
	passed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, strings.Replace(string(passed), "return 1;", "return 3;", 1))
	reload(t, c)
	wantState(t, c, "mine", StateDraft, "changed after it passed")
	writeFile(t, file, string(passed))
	reload(t, c)
	wantState(t, c, "mine", StateActive, "")

	if err := c.SetPass(context.Background(), "id-mine", nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "mine", StateDraft, "taken out of service")
	mustPublish(t, c, "mine")
	wantState(t, c, "mine", StateActive, "")

	choose(t, c, "mine", ExposureHidden)
	wantState(t, c, "mine", StateActive, "")
	if ok, why := c.Exposed(lookup(t, c, "mine")); ok || !strings.Contains(why, "hidden") {
		t.Errorf("exposed %v: %s", ok, why)
	}
}

func TestBundledToolStates(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home, Preset: "dev-essentials"})
	wantState(t, c, "hash", StateActive, "")
	wantState(t, c, "getWeather", StateDraft, `not in the preset "dev-essentials"`)
	// A pass does not widen what preset and rules choose.
	setPass(t, c, lookup(t, c, "getWeather"))
	wantState(t, c, "getWeather", StateDraft, "not in the preset")

	id := lookup(t, c, "hash").Spec.ToolID
	if err := c.SetPass(context.Background(), id, nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "hash", StateDraft, "taken out of service")
	wantState(t, mustOpen(t, Options{Home: home}), id, StateDraft, "taken out of service")
	setPass(t, c, lookup(t, c, "hash"))
	wantState(t, c, "hash", StateActive, "")

	err := c.WriteSpec(context.Background(), lookup(t, c, "hash"), lookup(t, c, "hash").Spec)
	wantFault(t, err, fault.Usage, "read-only", "hash")
}

func TestOperatorFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "one.json"), docJSON("id-1", "one", "return 1;", false))
	writeFile(t, filepath.Join(dir, "two", "spec.json"), `{"toolId":"id-2","name":"two","description":"Returns two.","params":[],"codeType":"Javascript","draft":false}`)
	writeFile(t, filepath.Join(dir, "two", "action.js"), "return 2;\n")
	writeFile(t, filepath.Join(dir, "three.json"), docJSON("id-3", "three", "return 3;", true))
	writeFile(t, filepath.Join(dir, ".hidden.json"), "{")
	writeFile(t, filepath.Join(dir, "notes.txt"), "not a tool")
	writeFile(t, filepath.Join(dir, "sub", "readme.md"), "not a tool either")
	c := mustOpen(t, Options{TrustDirs: true, Dirs: []string{dir, filepath.Join(dir, "two")}, Preset: "everything", Exclude: Rules{Names: []string{"one"}}})
	wantState(t, c, "one", StateActive, "")
	if ok, why := c.Exposed(lookup(t, c, "one")); ok || !strings.Contains(why, "excluded by name") {
		t.Errorf("an excluded user tool: exposed %v, %s", ok, why)
	}
	wantState(t, c, "two", StateActive, "")
	wantState(t, c, "three", StateDraft, "says draft")
	if tool := lookup(t, c, "two"); tool.Source != SourceUser || tool.Path != filepath.Join(dir, "two") {
		t.Errorf("got source %s, path %s", tool.Source, tool.Path)
	}
	// The second folder is the first one's tool again.
	if got := findingReasons(c); !slices.Equal(got, []string{"name-conflict"}) {
		t.Errorf("findings: %v", c.Findings())
	}

	_, err := Open(context.Background(), Options{Dirs: []string{filepath.Join(dir, "gone")}})
	wantFault(t, err, fault.Usage, "unreadable", "gone")
	wantFault(t, c.SetPass(context.Background(), "id-1", nil), fault.Usage, "no-home")
}

func TestMissingRequirements(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "env.json"), docJSON("id-env", "needsKey", "return 1;", false, `,"staticVariables":[{"key":"${API_KEY}"}]`))
	var mu sync.Mutex
	missing := []string{"API_KEY"}
	c := mustOpen(t, Options{TrustDirs: true, Dirs: []string{dir}, Preset: "everything", Missing: func(tool *Tool) []string {
		mu.Lock()
		defer mu.Unlock()
		return missing
	}})
	before := c.Revision()
	wantState(t, c, "needsKey", StateMissingRequirements, "API_KEY")
	wantState(t, c, "needsKey", StateMissingRequirements, "secrets.grants")
	if ok, _ := c.Exposed(lookup(t, c, "needsKey")); ok {
		t.Error("a tool without its key is exposed")
	}
	i := slices.IndexFunc(list(t, c), func(tool *Tool) bool { return tool.Spec.Name == "needsKey" })
	if got := list(t, c)[i].State; got != StateMissingRequirements {
		t.Errorf("List says %s", got)
	}
	mu.Lock()
	missing = nil
	mu.Unlock()
	wantState(t, c, "needsKey", StateActive, "")
	if c.Revision() == before {
		t.Error("the revision did not follow the state")
	}
	if lookup(t, c, "base64").State != StateActive {
		t.Error("a tool without placeholders was asked for some")
	}
}

func TestLookupAndList(t *testing.T) {
	c := mustOpen(t, Options{Preset: "everything"})
	_, err := c.Lookup(context.Background(), "nothing")
	wantFault(t, err, fault.NotFound, "unknown-tool", "nothing")
	wantFault(t, c.SetPass(context.Background(), "nothing", nil), fault.Usage, "no-home")
	tools := list(t, c)
	if !slices.IsSortedFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Spec.Name, b.Spec.Name) }) {
		t.Error("List is not sorted by name")
	}
	_ = append(tools, nil) // must not reach into the catalog
	if got := list(t, c); len(got) != len(c.bundle.docs) || slices.Contains(got, nil) {
		t.Errorf("List has %d tools", len(got))
	}
	if ok, why := c.Exposed(&Tool{Spec: &spec.Spec{ToolID: "stranger"}}); ok || why == "" {
		t.Error("a tool that is not in the catalog is exposed")
	}
}

func TestRevision(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home, Preset: "everything"})
	seen := map[string]string{c.Revision(): "start"}
	step := func(what string) {
		t.Helper()
		if old, dup := seen[c.Revision()]; dup {
			t.Errorf("%s has the revision of %s", what, old)
		}
		seen[c.Revision()] = what
	}
	if got := mustOpen(t, Options{Home: home, Preset: "everything"}).Revision(); got != c.Revision() {
		t.Error("equal content has two revisions")
	}
	id := lookup(t, c, "hash").Spec.ToolID
	choose(t, c, "hash", ExposureHidden)
	step("hidden")
	if err := c.SetPass(context.Background(), id, nil); err != nil {
		t.Fatal(err)
	}
	step("draft")
	writeFile(t, filepath.Join(home, "catalog", "mine.json"), docJSON("id-mine", "mine", "return 1;", true))
	reload(t, c)
	step("new tool")
	writeFile(t, filepath.Join(home, "catalog", "mine.json"), docJSON("id-mine", "mine", "return 2;", true))
	reload(t, c)
	step("edit")
}

func BenchmarkLookup(b *testing.B) {
	c := mustOpen(b, Options{})
	ctx := context.Background()
	for b.Loop() {
		if _, err := c.Lookup(ctx, "timezoneConvert"); err != nil {
			b.Fatal(err)
		}
	}
}
