package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// publish does what publishing a user tool does, short of running it.
func publish(c *Catalog, name string) error {
	ctx := context.Background()
	tool, err := c.Lookup(ctx, name)
	if err != nil {
		return err
	}
	draft := false
	edited, ferr := tool.Spec.Edit(spec.Patch{Draft: &draft})
	if ferr != nil {
		return ferr
	}
	if err := c.WriteSpec(ctx, tool, edited); err != nil {
		return err
	}
	return c.SetPass(ctx, tool.Spec.ToolID, &Pass{PassedDigest: edited.Digest(), Mode: "live", Runtime: "test", PolicyRevision: "test"})
}

func mustPublish(t *testing.T, c *Catalog, name string) {
	t.Helper()
	if err := publish(c, name); err != nil {
		t.Fatalf("publish %s: %v", name, err)
	}
}

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

	setPass(t, c, lookup(t, c, "mine"), ExposureHidden)
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
	setPass(t, c, lookup(t, c, "getWeather"), ExposureExposed)
	wantState(t, c, "getWeather", StateDraft, "not in the preset")

	id := lookup(t, c, "hash").Spec.ToolID
	if err := c.SetPass(context.Background(), id, nil); err != nil {
		t.Fatal(err)
	}
	wantState(t, c, "hash", StateDraft, "taken out of service")
	wantState(t, mustOpen(t, Options{Home: home}), id, StateDraft, "taken out of service")
	setPass(t, c, lookup(t, c, "hash"), "")
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
	c := mustOpen(t, Options{Dirs: []string{dir, filepath.Join(dir, "two")}, Preset: "everything", Exclude: Rules{Names: []string{"one"}}})
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

func TestNameConflicts(t *testing.T) {
	weather := "eb35a905-4074-4589-805b-4dfd67353fb0"
	for _, tc := range []struct {
		name     string
		docs     []string // files of an operator folder, in order
		findings int
		served   []string // of them
	}{
		{"a bundled name", []string{docJSON("id-1", "base64", "return 1;", false)}, 1, nil},
		{"a bundled name in other letters", []string{docJSON("id-1", "Base64", "return 1;", false)}, 1, nil},
		{"a bundled id", []string{docJSON(weather, "mine", "return 1;", false)}, 1, nil},
		{"a bundled id as a name", []string{docJSON("id-1", weather, "return 1;", false)}, 1, nil},
		{"a bundled name as an id", []string{docJSON("base64", "mine", "return 1;", false)}, 1, nil},
		{"a bundled name in a draft", []string{docJSON("id-1", "base64", "return 1;", true)}, 1, nil},
		{"one id twice", []string{docJSON("id-1", "a", "return 1;", false), docJSON("id-1", "b", "return 1;", false)}, 1, []string{"a"}},
		{"one name twice", []string{docJSON("id-1", "a", "return 1;", false), docJSON("id-2", "a", "return 2;", false)}, 1, []string{"a"}},
		{"one name in two spellings", []string{docJSON("id-1", "abc", "return 1;", false), docJSON("id-2", "ABC", "return 2;", false)}, 1, []string{"abc"}},
		{"a draft may share a name", []string{docJSON("id-1", "a", "return 1;", true), docJSON("id-2", "a", "return 2;", false)}, 0, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, doc := range tc.docs {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), doc)
			}
			c := mustOpen(t, Options{Dirs: []string{dir}})
			if got := c.Findings(); len(got) != tc.findings {
				t.Errorf("findings: %v", got)
			}
			var served []string
			for _, tool := range list(t, c) {
				if ok, _ := c.Exposed(tool); ok && tool.Source == SourceUser {
					served = append(served, tool.Spec.Name)
				}
			}
			if diff := cmp.Diff(tc.served, served); diff != "" {
				t.Error(diff)
			}
			for _, name := range []string{"base64", weather} {
				if tool := lookup(t, c, name); tool.Source != SourceBuiltin || tool.State != StateActive {
					t.Errorf("%s leads to the %s tool %s", name, tool.Source, tool.Path)
				}
			}
			if tc.name == "a draft may share a name" && lookup(t, c, "a").Spec.ToolID != "id-2" {
				t.Error("the name leads to the draft")
			}
		})
	}
}

func TestBrokenToolIsNamedAndTheRestLoads(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "catalog")
	bad := filepath.Join(dir, "bad.json")
	writeFile(t, bad, `{"name": "bad", "code": 1}`)
	writeFile(t, filepath.Join(dir, "cut.json"), `{"name": "cu`)
	writeFile(t, filepath.Join(dir, "good.json"), docJSON("id-good", "good", "return 1;", true))
	c := mustOpen(t, Options{Home: home})
	wantState(t, c, "good", StateDraft, "says draft")
	var files []string
	for _, f := range c.Findings() {
		files = append(files, filepath.Base(f.File))
	}
	slices.Sort(files)
	if diff := cmp.Diff([]string{"bad.json", "cut.json"}, slices.Compact(files)); diff != "" {
		t.Error(diff)
	}
	writeFile(t, bad, docJSON("id-bad", "bad", "return 1;", true))
	reload(t, c)
	wantState(t, c, "bad", StateDraft, "says draft")
}

func TestMissingRequirements(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "env.json"), docJSON("id-env", "needsKey", "return 1;", false, `,"staticVariables":[{"key":"${API_KEY}"}]`))
	var mu sync.Mutex
	missing := []string{"API_KEY"}
	c := mustOpen(t, Options{Dirs: []string{dir}, Missing: func(tool *Tool) []string {
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

func TestWriteSpecLeavesWhatSomebodyElseChanged(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	writeFile(t, file, docJSON("id-mine", "mine", "return 1;", true))
	c := mustOpen(t, Options{Home: home})
	tool := lookup(t, c, "mine")
	draft := false
	edited, ferr := tool.Spec.Edit(spec.Patch{Draft: &draft})
	if ferr != nil {
		t.Fatal(ferr)
	}
	changed := docJSON("id-mine", "mine", "return 99;", true)
	writeFile(t, file, changed)
	err := c.WriteSpec(context.Background(), tool, edited)
	wantFault(t, err, fault.LocalPassFailed, "changed-on-disk", file)
	if got, _ := os.ReadFile(file); string(got) != changed {
		t.Error("the change of somebody else was lost")
	}
}

// Publishing members of one bundle file, and folders, in any order keeps all
// of them, also from several catalogs at once.
func TestConcurrentPublishing(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "catalog")
	var names, members []string
	for i := range 4 {
		name := fmt.Sprintf("member%d", i)
		names, members = append(names, name), append(members, docJSON("id-"+name, name, "return 1;", true))
	}
	writeFile(t, filepath.Join(dir, "bundle.json"), "["+strings.Join(members, ",")+"]")
	for i := range 4 {
		name := fmt.Sprintf("folder%d", i)
		names = append(names, name)
		writeFile(t, filepath.Join(dir, name, "spec.json"), fmt.Sprintf(`{"toolId":"id-%s","name":%q,"description":"x","params":[],"codeType":"Javascript","draft":true,"x-note":[1,  2]}`, name, name))
		writeFile(t, filepath.Join(dir, name, "action.js"), "return 1;\n")
	}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := Open(context.Background(), Options{Home: home})
			if err == nil {
				err = publish(c, name)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	wg.Wait()
	c := mustOpen(t, Options{Home: home})
	for _, name := range names {
		wantState(t, c, name, StateActive, "")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "folder0", "spec.json"))
	if err != nil || !strings.Contains(string(raw), `"x-note":[1,  2]`) {
		t.Errorf("unknown members were not kept: %s, %v", raw, err)
	}
}

func TestLookupAndList(t *testing.T) {
	c := mustOpen(t, Options{})
	_, err := c.Lookup(context.Background(), "nothing")
	wantFault(t, err, fault.NotFound, "unknown-tool", "nothing")
	wantFault(t, c.SetPass(context.Background(), "nothing", nil), fault.Usage, "no-home")
	tools := list(t, c)
	if !slices.IsSortedFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Spec.Name, b.Spec.Name) }) {
		t.Error("List is not sorted by name")
	}
	_ = append(tools, nil) // must not reach into the catalog
	if got := list(t, c); len(got) != 12 || slices.Contains(got, nil) {
		t.Errorf("List has %d tools", len(got))
	}
	if ok, why := c.Exposed(&Tool{Spec: &spec.Spec{ToolID: "stranger"}}); ok || why == "" {
		t.Error("a tool that is not in the catalog is exposed")
	}
}

func TestRevision(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home})
	seen := map[string]string{c.Revision(): "start"}
	step := func(what string) {
		t.Helper()
		if old, dup := seen[c.Revision()]; dup {
			t.Errorf("%s has the revision of %s", what, old)
		}
		seen[c.Revision()] = what
	}
	if got := mustOpen(t, Options{Home: home}).Revision(); got != c.Revision() {
		t.Error("equal content has two revisions")
	}
	id := lookup(t, c, "hash").Spec.ToolID
	setPass(t, c, lookup(t, c, "hash"), ExposureHidden)
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

// Readers see whole snapshots while others reload and change.
func TestReadersDuringReload(t *testing.T) {
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "catalog", "mine.json"), docJSON("id-mine", "mine", "return 1;", false))
	c := mustOpen(t, Options{Home: home, Missing: func(*Tool) []string { return nil }})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				tools, err := c.List(ctx)
				if err != nil || len(tools) != 13 {
					t.Errorf("List: %d tools, %v", len(tools), err)
					return
				}
				for _, tool := range tools {
					c.Exposed(tool)
				}
				_ = c.Revision()
			}
		}()
	}
	tool := lookup(t, c, "mine")
	for range 20 {
		reload(t, c)
		setPass(t, c, tool, "")
	}
	wg.Wait()
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
