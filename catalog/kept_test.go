package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// What is kept goes below the configuration, and hiding above what includes
// without naming the tool.
func TestKeptChoices(t *testing.T) {
	b := smallBundle(t, rulePresets, ruleTools)
	hide := func(ids ...string) Kept { return kept("", ExposureHidden, ids...) }
	expose := func(ids ...string) Kept { return kept("", ExposureExposed, ids...) }
	for _, tc := range []struct {
		name      string
		o         Options
		kept      Kept
		want      []string
		why       map[string]string // a part of it
		overrides []Override
	}{
		{name: "nothing", want: []string{"a", "b"}, why: map[string]string{"a": `in the preset "two"`, "c": `not in the preset "two"; serve it with: toolwarrant catalog expose c`}},
		{name: "a preset", kept: kept("all", ""), want: []string{"a", "b", "c", "d"}, why: map[string]string{"d": `in the preset "all" that is kept`}},
		{name: "a preset of the configuration goes before it", o: Options{Preset: "two"}, kept: kept("all", ""), want: []string{"a", "b"},
			why: map[string]string{"d": `not in the preset "two" of the configuration`}, overrides: []Override{{"preset all", "catalog.preset"}}},
		{name: "and what it includes", o: Options{Include: Rules{Names: []string{"d"}}}, kept: kept("all", ""), want: []string{"d"},
			overrides: []Override{{"preset all", "catalog.include"}}},
		{name: "the same preset in both", o: Options{Preset: "all"}, kept: kept("all", ""), want: []string{"a", "b", "c", "d"}},
		{name: "expose", kept: expose("id-d"), want: []string{"a", "b", "d"}, why: map[string]string{"d": "exposed with: toolwarrant catalog expose"}},
		{name: "expose under a preset of the configuration", o: Options{Preset: "two"}, kept: expose("id-d", "id-a"), want: []string{"a", "b"},
			why: map[string]string{"d": "it is kept as exposed, and the configuration (catalog.preset)"}, overrides: []Override{{"expose d", "catalog.preset"}}},
		{name: "expose what is excluded", o: Options{Exclude: Rules{Tags: []string{"util"}}}, kept: expose("id-d"), want: []string{"b"},
			why: map[string]string{"d": "excluded by tag util"}, overrides: []Override{{"expose d", "catalog.exclude"}}},
		{name: "hide", kept: hide("id-a"), want: []string{"b"}, why: map[string]string{"a": "it is kept as hidden"}},
		{name: "hide under a preset of the configuration", o: Options{Preset: "all"}, kept: hide("id-a"), want: []string{"b", "c", "d"}},
		{name: "hide what a tag includes", o: Options{Include: Rules{Tags: []string{"util"}}}, kept: hide("id-a"), want: []string{"d"}},
		{name: "hide what is included by name", o: Options{Include: Rules{Names: []string{"a"}}}, kept: hide("id-a"), want: []string{"a"},
			why: map[string]string{"a": "which goes before the kept choice to hide it"}, overrides: []Override{{"hide a", "catalog.include.names"}}},
		{name: "hide what is included and excluded", o: Options{Include: Rules{Names: []string{"a", "b"}}, Exclude: Rules{Names: []string{"a"}}}, kept: hide("id-a"), want: []string{"b"}},
		{name: "tools that are not there", kept: expose("id-x"), want: []string{"a", "b"}},
		{name: "a preset that is not there", kept: kept("gone", ""), why: map[string]string{"a": `not in the preset "gone" that is kept`}},
		{name: "which does not matter where the configuration has one", o: Options{Preset: "two"}, kept: kept("gone", ""), want: []string{"a", "b"},
			overrides: []Override{{"preset gone", "catalog.preset"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.Home = t.TempDir()
			first, err := open(context.Background(), tc.o, b)
			if err != nil {
				t.Fatal(err)
			}
			tc.kept.AutoExpose = true
			if _, err := first.Keep(context.Background(), func(k *Kept) error { *k = tc.kept.clone(); return nil }, func(Kept, Kept) error { return nil }); err != nil {
				t.Fatal(err)
			}
			second, err := open(context.Background(), tc.o, b)
			if err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]*Catalog{"at once": first, "after a start": second} {
				if diff := cmp.Diff(tc.want, exposed(t, c)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				if diff := cmp.Diff(tc.overrides, c.Overrides()); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				for tool, want := range tc.why {
					if _, why := c.Exposed(lookup(t, c, tool)); !strings.Contains(why, want) {
						t.Errorf("%s: %s: %q does not say %q", name, tool, why, want)
					}
				}
				for _, tool := range list(t, c) {
					if ok, why := c.Exposed(tool); why == "" || tool.Hidden && ok {
						t.Errorf("%s: %s: exposed %v, hidden %v, why %q", name, tool.Spec.Name, ok, tool.Hidden, why)
					}
				}
				lost := len(c.Findings()) == 1 && c.Findings()[0].Reason == "unknown-preset"
				if want := tc.kept.Preset == "gone" && tc.o.Preset == ""; lost != want {
					t.Errorf("%s: findings %v", name, c.Findings())
				}
			}
		})
	}
}

func kept(preset, choice string, ids ...string) Kept {
	k := Kept{Preset: preset, Choices: map[string]string{}}
	for _, id := range ids {
		k.Choices[id] = choice
	}
	return k
}

// A user tool that is hidden is so in every state, so that no refusal tells of it.
func TestHiddenInEveryState(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	writeFile(t, file, docJSON("id-mine", "mine", "return 1;", true))
	missing := false
	c := mustOpen(t, Options{Home: home, Missing: func(*Tool) []string {
		if missing {
			return []string{"KEY"}
		}
		return nil
	}})
	step := func(what string, state State, want bool) {
		t.Helper()
		tool := lookup(t, c, "mine")
		ok, why := c.Exposed(tool)
		if tool.State != state || tool.Hidden != want || ok != (state == StateActive && !want) || why == "" {
			t.Errorf("%s: %s, hidden %v, exposed %v, %s", what, tool.State, tool.Hidden, ok, why)
		}
		if want && !strings.Contains(why, "kept as hidden") {
			t.Errorf("%s: %s", what, why)
		}
	}
	step("a draft", StateDraft, false)
	choose(t, c, "mine", ExposureHidden)
	step("a hidden draft", StateDraft, true)
	mustPublish(t, c, "mine")
	step("published", StateActive, true)
	writeFile(t, file, docJSON("id-mine", "mine", "return 2;", false, `,"staticVariables":[{"key":"${KEY}"}]`))
	reload(t, c)
	step("edited", StateDraft, true)
	mustPublish(t, c, "mine")
	missing = true
	step("without its secret", StateMissingRequirements, true)
	choose(t, c, "mine", "")
	step("no longer hidden", StateMissingRequirements, false)
	missing = false
	step("with its secret", StateActive, false)
}

// A new tool is served when it is published, unless that was switched off; a
// tool that passed before stays what it was.
func TestAutoExpose(t *testing.T) {
	home := t.TempDir()
	for i := range 4 {
		writeFile(t, filepath.Join(home, "catalog", fmt.Sprintf("t%d.json", i)), docJSON(fmt.Sprintf("id-%d", i), fmt.Sprintf("t%d", i), "return 1;", true))
	}
	c := mustOpen(t, Options{Home: home})
	served := func() string {
		var names []string
		for _, name := range exposed(t, c) {
			if lookup(t, c, name).Source == SourceUser {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	mustPublish(t, c, "t0")
	if err := c.SetPass(t.Context(), "id-2", nil); err != nil { // a draft that never passed
		t.Fatal(err)
	}
	keep(t, c, func(k *Kept) { k.AutoExpose = false })
	choose(t, c, "t3", ExposureExposed)
	for _, name := range []string{"t0", "t1", "t2", "t3"} {
		mustPublish(t, c, name)
	}
	if got := served(); got != "t0 t3" {
		t.Errorf("served: %s", got)
	}
	// A bundled tool is served by preset, whatever it passed.
	setPass(t, c, lookup(t, c, "evalExpression"))
	if ok, why := c.Exposed(lookup(t, c, "evalExpression")); !ok {
		t.Error(why)
	}
	choose(t, c, "t1", ExposureExposed)
	keep(t, c, func(k *Kept) { k.AutoExpose = true })
	mustPublish(t, c, "t2")
	if got := served(); got != "t0 t1 t3" {
		t.Errorf("served: %s", got)
	}
}

func TestKeep(t *testing.T) {
	home := t.TempDir()
	c := mustOpen(t, Options{Home: home})
	ctx := context.Background()
	quiet := func(Kept, Kept) error { t.Error("recorded"); return nil }

	changed, err := c.Keep(ctx, func(*Kept) error { return nil }, quiet)
	if changed || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
	refusal := errors.New("no")
	if _, err := c.Keep(ctx, func(k *Kept) error { k.Preset = "everything"; return refusal }, quiet); !errors.Is(err, refusal) {
		t.Error(err)
	}
	_, err = c.Keep(ctx, func(k *Kept) error { k.Choices["x"] = "public"; return nil }, quiet)
	wantFault(t, err, fault.Usage, "choice", "public")
	_, err = c.Keep(ctx, func(k *Kept) error { k.Approvals["x"] = Standing{Mode: "NEVER"}; return nil }, quiet)
	wantFault(t, err, fault.Usage, "choice", "NEVER")
	// What is not on record does not take effect.
	before := c.Revision()
	if _, err := c.Keep(ctx, func(k *Kept) error { k.Preset = "dev-essentials"; return nil }, func(Kept, Kept) error { return refusal }); !errors.Is(err, refusal) {
		t.Error(err)
	}
	if _, err := os.Stat(c.statePath()); !errors.Is(err, os.ErrNotExist) || c.Revision() != before {
		t.Errorf("a change without a record: %v", err)
	}
	// What is recorded is both sides, and what another process kept is not lost.
	other := mustOpen(t, Options{Home: home})
	choose(t, other, "uuid", ExposureHidden)
	changed, err = c.Keep(ctx, func(k *Kept) error { k.Preset = "dev-essentials"; return nil }, func(old, new Kept) error {
		if old.Preset != "" || new.Preset != "dev-essentials" || len(new.Choices) != 1 {
			t.Errorf("recorded %+v, %+v", old, new)
		}
		return nil
	})
	if err != nil || !changed || strings.Join(exposed(t, c), " ") != "base64 evalExpression getCurrentTime hash jwtDecode regexExtract" {
		t.Errorf("changed %v, %v, exposed %v", changed, err, exposed(t, c))
	}
	reload(t, other)
	if other.Revision() != c.Revision() {
		t.Error("two catalogs of one home differ")
	}
	_, err = mustOpen(t, Options{}).Keep(ctx, func(*Kept) error { return nil }, quiet)
	wantFault(t, err, fault.Usage, "no-home")
	// A damaged file is not replaced.
	writeFile(t, c.statePath(), "{")
	_, err = c.Keep(ctx, func(k *Kept) error { k.AutoExpose = false; return nil }, quiet)
	wantFault(t, err, fault.Usage, "state-corrupt")
}

func TestConcurrentChoicesLoseNothing(t *testing.T) {
	home := t.TempDir()
	names := []string{"base64", "hash", "hmac", "uuid", "parseCsv", "cronNext"}
	var wg sync.WaitGroup
	for _, name := range names {
		c := mustOpen(t, Options{Home: home})
		wg.Add(1)
		go func() {
			defer wg.Done()
			tool, err := c.Lookup(context.Background(), name)
			if err == nil {
				_, err = c.Keep(context.Background(), func(k *Kept) error { k.Choices[tool.Spec.ToolID] = ExposureHidden; return nil }, func(Kept, Kept) error { return nil })
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if got := mustOpen(t, Options{Home: home}).Kept().Choices; len(got) != len(names) {
		t.Errorf("%d of %d choices were kept: %v", len(got), len(names), got)
	}
}

// A file of the first version is brought to this one, once, and kept beside it.
func TestFirstVersionIsMigrated(t *testing.T) {
	home := t.TempDir()
	id := lookup(t, mustOpen(t, Options{}), "uuid").Spec.ToolID
	pass := `{"passedDigest":"` + noDigest + `","at":"2026-01-02T03:04:05Z","mode":"live","runtime":"r","policyRevision":"p","exposure":"%s"}`
	first := fmt.Sprintf(`{"version":1,"tools":{%q:`+pass+`,"gone":`+pass+`}}`, id, "hidden", "draft")
	file := filepath.Join(home, "catalog", "state.json")
	writeFile(t, file, first)
	for range 2 {
		c := mustOpen(t, Options{Home: home})
		if tool := lookup(t, c, "uuid"); !tool.Hidden || tool.State != StateActive {
			t.Errorf("hidden %v, %s", tool.Hidden, tool.State)
		}
		if k := c.Kept(); !k.AutoExpose || len(k.Choices) != 1 {
			t.Errorf("kept %+v", k)
		}
		if backup, err := os.ReadFile(file + ".v1"); err != nil || string(backup) != first {
			t.Errorf("the backup is %s, %v", backup, err)
		}
		var now state
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &now)
		}
		if err != nil || now.Version != stateVersion || now.Tools["gone"].Exposure != ExposureDraft || now.Tools[id].Exposure != ExposureExposed {
			t.Errorf("the file is %s, %v", data, err)
		}
		// The second start must not take the new file for the old one.
		if info, err := os.Stat(file + ".v1"); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the backup: %v, %v", info, err)
		}
	}
}

func TestMigrationThatCannotBeKept(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "state.json")
	writeFile(t, file, `{"version":1,"tools":{}}`)
	if err := os.Mkdir(file+".v1", 0o700); err != nil { // in the place of the backup
		t.Fatal(err)
	}
	_, err := Open(context.Background(), Options{Home: home})
	wantFault(t, err, fault.Usage, "state-unwritable", file+".v1")
	if data, _ := os.ReadFile(file); !strings.Contains(string(data), `"version":1`) {
		t.Errorf("the file was changed: %s", data)
	}
}

func TestToolsSuggests(t *testing.T) {
	c := mustOpen(t, Options{})
	tools, err := c.Tools(t.Context(), []string{"uuid", lookup(t, c, "hash").Spec.ToolID})
	if err != nil || len(tools) != 2 || tools[1].Spec.Name != "hash" {
		t.Errorf("%v, %v", tools, err)
	}
	_, err = c.Tools(t.Context(), []string{"uuid", "hahs"})
	wantFault(t, err, fault.Usage, "unknown-tool", `did you mean "hash"?`)
	wantFault(t, c.KnowsPreset("startr-5"), fault.Usage, "unknown-preset", `did you mean "starter-5"?`)
	if err := c.KnowsPreset("everything"); err != nil {
		t.Error(err)
	}
}

// A bundled tool that is hidden is so whether or not anything chooses it.
func TestHiddenBundledTool(t *testing.T) {
	for name, o := range map[string]Options{
		"in the preset": {}, "not in the preset": {Preset: "dev-essentials"}, "excluded": {Exclude: Rules{Names: []string{"getWeather"}}},
	} {
		o.Home = t.TempDir()
		c := mustOpen(t, o)
		choose(t, c, "getWeather", ExposureHidden)
		tool := lookup(t, c, "getWeather")
		if ok, why := c.Exposed(tool); ok || !tool.Hidden || why == "" {
			t.Errorf("%s: exposed %v, hidden %v, %s", name, ok, tool.Hidden, why)
		}
	}
}

// A file that goes away under a catalog brings nothing back.
func TestStateThatIsGone(t *testing.T) {
	c := mustOpen(t, Options{Home: t.TempDir()})
	choose(t, c, "uuid", ExposureHidden)
	before := c.Revision()
	if err := os.Remove(c.statePath()); err != nil {
		t.Fatal(err)
	}
	wantFault(t, c.Reload(t.Context()), fault.Usage, "state-gone", c.statePath())
	wantFault(t, c.SetPass(t.Context(), lookup(t, c, "hash").Spec.ToolID, nil), fault.Usage, "state-gone")
	_, err := c.Keep(t.Context(), func(k *Kept) error { k.AutoExpose = false; return nil }, func(Kept, Kept) error { return nil })
	wantFault(t, err, fault.Usage, "state-gone")
	if c.Revision() != before || !lookup(t, c, "uuid").Hidden {
		t.Error("what was hidden is back")
	}
	if _, err := os.Stat(c.statePath()); err == nil {
		t.Error("a file was begun anew")
	}
}
