package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
)

var operator = decision.Principal{Subject: "uid:7", Method: "os-user", ClientID: "test", Groups: []string{}, Scopes: []string{}}

// event is an administrative act as the log has it.
type event struct {
	Kind      string                     `json:"kind"`
	Principal struct{ Subject string }   `json:"principal"`
	Detail    map[string]json.RawMessage `json:"detail"`
}

// events gives the acts of the log whose kind begins with one of the words.
func events(t *testing.T, s *Service, kinds ...string) (all []event) {
	t.Helper()
	data, err := os.ReadFile(s.Audit.Path())
	check(t, err)
	for _, line := range strings.Split(string(data), "\n") {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(e.Kind, k) }) {
			all = append(all, e)
		}
	}
	return all
}

func said(e event) string {
	var b strings.Builder
	b.WriteString(e.Kind)
	for _, key := range []string{"old", "new", "riskLevel", "reason", "code"} {
		if v, ok := e.Detail[key]; ok {
			b.WriteString(" " + key + "=" + string(v))
		}
	}
	return b.String()
}

func wantEvents(t *testing.T, s *Service, prefix string, want ...string) {
	t.Helper()
	var got []string
	for _, e := range events(t, s, prefix) {
		if e.Principal.Subject != operator.Subject {
			t.Errorf("%s by %q", e.Kind, e.Principal.Subject)
		}
		got = append(got, said(e))
	}
	if !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantReason(t *testing.T, err error, reason string, words ...string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Reason != reason {
		t.Fatalf("got %v, want the reason %s", err, reason)
	}
	for _, w := range words {
		if !strings.Contains(f.Message, w) {
			t.Errorf("%q does not say %q", f.Message, w)
		}
	}
}

func visibleNames(t *testing.T, s *Service) string {
	t.Helper()
	tools, err := s.Visible(t.Context(), operator)
	check(t, err)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Spec.Name)
	}
	return strings.Join(names, " ")
}

// Each choice takes effect at once, is on record, and changes the lists.
func TestChoicesOfExposure(t *testing.T) {
	ctx := t.Context()
	s := opened(t, t.TempDir(), settings(t, map[string]any{"catalog.preset": "", "catalog.include.names": []string{}}))
	revision := s.ListRevision()
	step := func(err error, want string) {
		t.Helper()
		check(t, err)
		if got := visibleNames(t, s); got != want {
			t.Errorf("visible: %s, want %s", got, want)
		}
		if now := s.ListRevision(); now == revision {
			t.Error("the lists have the same revision")
		} else {
			revision = now
		}
	}
	step(s.KeepPreset(ctx, operator, "dev-essentials"), "base64 evalExpression getCurrentTime hash jwtDecode regexExtract uuid")
	_, err := s.Hide(ctx, operator, []string{"uuid", "hash"})
	step(err, "base64 evalExpression getCurrentTime jwtDecode regexExtract")
	shown, err := s.Expose(ctx, operator, []string{"uuid", "getWeather", "uuid"})
	step(err, "base64 evalExpression getCurrentTime getWeather jwtDecode regexExtract uuid")
	if len(shown) != 2 || !shown[1].Exposed || shown[1].Name != "getWeather" || shown[1].Why == "" {
		t.Errorf("exposed: %+v", shown)
	}
	step(s.KeepPreset(ctx, operator, ""), "evalExpression extractPageContent getCurrentTime getWeather searchWikipedia uuid")

	// What is so already is no event; one wrong name changes nothing.
	check(t, s.KeepPreset(ctx, operator, ""))
	check(t, s.AutoExpose(ctx, operator, true))
	_, err = s.Hide(ctx, operator, []string{"base64", "hsah"})
	wantReason(t, err, "unknown-tool", `did you mean "hash"?`)
	wantReason(t, s.KeepPreset(ctx, operator, "startr-5"), "unknown-preset", `did you mean "starter-5"?`)
	check(t, s.AutoExpose(ctx, operator, false))
	wantEvents(t, s, "exposure.", `exposure.preset old="" new="dev-essentials"`, "exposure.hide", "exposure.expose",
		`exposure.preset old="dev-essentials" new=""`, "exposure.auto-expose old=true new=false")
	if e := events(t, s, "exposure.hide")[0]; !strings.Contains(string(e.Detail["tools"]), `"name":"hash"`) {
		t.Errorf("the event does not name the tools: %s", e.Detail["tools"])
	}
	if x := s.Exposure(); x.Preset != "" || x.AutoExpose || len(x.Overridden) != 0 {
		t.Errorf("%+v", x)
	}
}

// What the configuration says goes before what is kept, says so, and is not
// written back.
func TestConfigurationGoesFirst(t *testing.T) {
	ctx := t.Context()
	home := t.TempDir()
	s := opened(t, home, settings(t, map[string]any{"catalog.preset": "dev-essentials", "catalog.exclude.names": []string{"hash"}, "catalog.include.names": []string{"cronNext"}}))
	check(t, s.KeepPreset(ctx, operator, "everything"))
	shown, err := s.Expose(ctx, operator, []string{"getWeather", "hash"})
	check(t, err)
	for _, e := range shown {
		if e.Exposed {
			t.Errorf("%+v", e)
		}
	}
	hidden, err := s.Hide(ctx, operator, []string{"cronNext"})
	check(t, err)
	if !hidden[0].Exposed || !strings.Contains(hidden[0].Why, "goes before the kept choice to hide it") {
		t.Errorf("%+v", hidden)
	}
	if got := visibleNames(t, s); got != "base64 cronNext evalExpression getCurrentTime jwtDecode regexExtract uuid" {
		t.Error(got)
	}
	if got := s.Exposure().Overridden; len(got) != 4 {
		t.Errorf("overridden: %v", got)
	}
	list, err := s.List(ctx, operator)
	check(t, err)
	for _, e := range list {
		if e.Why == "" {
			t.Errorf("%s: exposed %v, and nobody says why", e.Name, e.Exposed)
		}
	}
	data, err := os.ReadFile(filepath.Join(home, "catalog", "state.json"))
	check(t, err)
	if strings.Contains(string(data), "dev-essentials") {
		t.Error("the configuration was written back")
	}
}

// What cannot be recorded does not take effect.
func TestNothingWithoutARecord(t *testing.T) {
	ctx := t.Context()
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	check(t, os.MkdirAll(filepath.Dir(file), 0o700))
	doc := `{"name":"mine","toolId":"id-mine","description":"Returns one.","code":"return 1","codeType":"Javascript","humanInTheLoop":{"mode":"REQUIRED"}}`
	check(t, os.WriteFile(file, []byte(doc), 0o600))
	s := opened(t, home, settings(t, nil))
	mine, err := s.Catalog.Lookup(ctx, "mine")
	check(t, err)
	write, err := s.Catalog.Lookup(ctx, "writeTextFile")
	check(t, err)
	before := s.Catalog.Content()
	check(t, s.Audit.Shutdown(ctx))
	_, hide := s.Hide(ctx, operator, []string{"uuid"})
	_, lower := s.SetApproval(ctx, operator, write, "disabled", "why not", true)
	_, edit := s.SetApproval(ctx, operator, mine, "disabled", "why not", true)
	_, _, publish := s.Publish(ctx, operator, mine, "", TestOptions{})
	for what, err := range map[string]error{
		"preset": s.KeepPreset(ctx, operator, "everything"), "auto": s.AutoExpose(ctx, operator, false), "hide": hide, "lower": lower, "edit": edit, "publish": publish,
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if data, _ := os.ReadFile(file); s.Catalog.Content() != before || string(data) != doc {
		t.Errorf("something changed: %s", data)
	}
	if _, err := os.Stat(filepath.Join(home, "catalog", "state.json")); err == nil {
		t.Error("a choice was kept")
	}
}

// A change that is on record and does not come about is said not to have.
func TestChangeThatCannotBeWritten(t *testing.T) {
	ctx := t.Context()
	home := t.TempDir()
	s := opened(t, home, settings(t, nil))
	// A folder in the place of the file cannot be replaced by one.
	lock := filepath.Join(home, "catalog", "state.json")
	_, err := s.Catalog.Keep(ctx, func(k *catalog.Kept) error { k.AutoExpose = false; return nil }, func(catalog.Kept, catalog.Kept) error {
		return os.MkdirAll(filepath.Join(lock, "in the way"), 0o700)
	})
	if err == nil {
		t.Fatal("a file was written over a folder")
	}
	check(t, os.RemoveAll(lock))
	recorded := false
	err = s.keep(ctx, operator, "exposure.preset", func(k *catalog.Kept) error { k.Preset = "everything"; return nil }, func(catalog.Kept, catalog.Kept) map[string]any {
		recorded = true
		check(t, os.MkdirAll(filepath.Join(lock, "in the way"), 0o700))
		return map[string]any{}
	})
	if err == nil || !recorded {
		t.Fatalf("recorded %v, %v", recorded, err)
	}
	wantEvents(t, s, "exposure.", "exposure.preset", `exposure.preset.failed reason="state-unwritable" code="INTERNAL"`)
}

// A tool that is hidden is not there for a call, whatever its state.
func TestCallOfAHiddenTool(t *testing.T) {
	ctx := t.Context()
	s := opened(t, t.TempDir(), settings(t, nil))
	call := func(name string) *fault.Error {
		return s.Engine.Call(ctx, executor.Call{Principal: operator, Origin: decision.OriginMCPHTTP, Name: name, Args: json.RawMessage(`{}`)}).Err
	}
	_, err := s.Hide(ctx, operator, []string{"uuid", "hash"})
	check(t, err)
	hash, err := s.Catalog.Lookup(ctx, "hash")
	check(t, err)
	check(t, s.Draft(ctx, operator, hash))
	unknown := call("nosuch")
	for _, name := range []string{"uuid", "hash"} {
		f := call(name)
		if f == nil || f.Code != unknown.Code || f.Reason != unknown.Reason || f.Message != strings.ReplaceAll(unknown.Message, "nosuch", name) {
			t.Errorf("%s: %v, where an unknown tool is %v", name, f, unknown)
		}
	}
	_, err = s.Expose(ctx, operator, []string{"uuid"})
	check(t, err)
	if f := call("uuid"); f != nil {
		t.Error(f)
	}
}
