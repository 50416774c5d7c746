package catalog_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// fact is what is fixed about one tool of the catalog: callers and policies
// rely on it, so it does not change by accident.
type fact struct {
	Name            string   `json:"name"`
	ToolID          string   `json:"toolId"`
	Category        string   `json:"category"`
	Tags            []string `json:"tags"`
	Params          []string `json:"params"` // "name TYPE" or "name TYPE required", in order
	StaticVariables []string `json:"staticVariables"`
	NetworkMode     string   `json:"networkMode"`
	Hosts           []string `json:"hosts"`
	FileRead        bool     `json:"fileRead"`
	FileWrite       bool     `json:"fileWrite"`
	Level           string   `json:"level"`
}

// facts reads testdata/facts.ndjson, one line for each tool, by name.
func facts(t *testing.T) map[string]fact {
	t.Helper()
	raw, err := os.ReadFile("testdata/facts.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]fact{}
	for line := range bytes.Lines(raw) {
		var f fact
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		all[f.Name] = f
	}
	return all
}

// TestFacts holds each bundled tool to what is fixed about it.
func TestFacts(t *testing.T) {
	want := facts(t)
	policy := builtinPolicy(t, resolver.Operator{})
	for _, tool := range bundledTools(t) {
		s := tool.Spec
		got := fact{
			Name: s.Name, ToolID: s.ToolID, Category: s.Category, Tags: append([]string{}, s.Tags...), NetworkMode: "blocked",
			Params: []string{}, StaticVariables: []string{}, Hosts: []string{}, Level: decide(t, policy, tool).RiskLevel,
		}
		for _, p := range s.Params {
			row := p.Name + " " + string(p.Type)
			if p.Required {
				row += " required"
			}
			got.Params = append(got.Params, row)
		}
		for _, v := range s.StaticVariables {
			got.StaticVariables = append(got.StaticVariables, v.Key+"="+v.Value)
		}
		if o := s.Overrides; o != nil {
			got.NetworkMode = cmp.Or(deref(o.NetworkMode), "blocked")
			got.Hosts = append(got.Hosts, o.HostsAllow...)
			got.FileRead, got.FileWrite = deref(o.FileRead), deref(o.FileWrite)
		}
		if diff := gocmp.Diff(want[s.Name], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Name, diff)
		}
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// TestPosture is the golden table of what a person has to know about each
// bundled tool before serving it: its level, whether a person is asked, and
// what it reaches. Its diff is what a reviewer reads.
func TestPosture(t *testing.T) {
	const file = "testdata/posture.txt"
	policy := builtinPolicy(t, resolver.Operator{})
	var table strings.Builder
	for _, tool := range bundledTools(t) {
		s := tool.Spec
		d := decide(t, policy, tool)
		fmt.Fprintf(&table, "%-24s %s %-8s %-12s %s\n", s.Name, d.RiskLevel, d.HumanInTheLoop.Mode, s.Category, posture(s))
		asks(t, tool, d.HumanInTheLoop.Mode)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), table.String()); diff != "" {
		t.Errorf("go test ./catalog -run '^TestPosture$' -update rewrites it (-want +got):\n%s", diff)
	}
}

// asks checks that a tool says by itself whether a person is asked: of what
// writes or reaches any host always, of what only computes never.
func asks(t *testing.T, tool *catalog.Tool, decided string) {
	t.Helper()
	s := tool.Spec
	h := s.HumanInTheLoop
	if h == nil || h.Mode == nil {
		t.Errorf("%s does not state its humanInTheLoop", s.Name)
		return
	}
	if *h.Mode != decided {
		t.Errorf("%s says %s and the policy %s", s.Name, *h.Mode, decided)
	}
	if prompts := h.PromptTemplate != nil; prompts != (*h.Mode == "REQUIRED") {
		t.Errorf("%s: mode %s and a prompt: %v", s.Name, *h.Mode, prompts)
	}
	rest := strings.NewReplacer("{toolName}", "", "{args}", "").Replace(deref(h.PromptTemplate))
	if strings.ContainsAny(rest, "{}") {
		t.Errorf("%s: the prompt uses more than {toolName} and {args}", s.Name)
	}
	o := s.Overrides
	must := o != nil && (deref(o.FileWrite) || !slices.Contains([]string{"", "blocked", "allowlist"}, deref(o.NetworkMode)))
	if posts := regexp.MustCompile(`method: "(POST|PUT|PATCH|DELETE)"`).MatchString(s.Code); (must || posts) && *h.Mode != "REQUIRED" {
		t.Errorf("%s acts on the world and nobody is asked", s.Name)
	}
	if posture(s) == "computes" && *h.Mode != "DISABLED" {
		t.Errorf("%s only computes and somebody is asked", s.Name)
	}
}

// posture says in words what a tool reaches.
func posture(s *spec.Spec) string {
	var parts []string
	if o := s.Overrides; o != nil {
		if mode := deref(o.NetworkMode); mode != "" && mode != "blocked" {
			parts = append(parts, strings.TrimSpace(mode+" "+strings.Join(o.HostsAllow, " ")))
		}
		if deref(o.FileRead) {
			parts = append(parts, "reads files")
		}
		if deref(o.FileWrite) {
			parts = append(parts, "writes files")
		}
		if len(o.AddAllowClasses)+len(o.RemoveDenyClasses) > 0 {
			parts = append(parts, "host classes")
		}
	}
	for _, name := range s.Placeholders() {
		parts = append(parts, "${"+name+"}")
	}
	if len(parts) == 0 {
		return "computes"
	}
	return strings.Join(parts, ", ")
}

// TestCatalogFigures counts the whole catalog.
func TestCatalogFigures(t *testing.T) {
	tools := bundledTools(t)
	missing := facts(t)
	policy := builtinPolicy(t, resolver.Operator{})
	got := map[string]int{}
	for _, tool := range tools {
		delete(missing, tool.Spec.Name)
		got[decide(t, policy, tool).RiskLevel]++
		got["category "+tool.Spec.Category]++
		for _, tag := range tool.Spec.Tags {
			got["tag "+tag]++
		}
		got["params"] += len(tool.Spec.Params)
		got["placeholders"] += len(tool.Spec.Placeholders())
	}
	if len(missing) > 0 {
		t.Skipf("%d tools are not bundled yet: %s", len(missing), strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	want := map[string]int{
		"L0": 29, "L3": 58, "L4": 1, "params": 246, "placeholders": 19,
		"category WEB": 46, "category FILE": 11, "category DATETIME": 7, "category CRYPTO": 7, "category TEXT": 5,
		"category SECURITY": 2, "category MATH": 2, "category DATA": 2, "category ENCODING": 2,
		"category PRODUCTIVITY": 2, "category AI": 1, "category MESSAGING": 1,
		"tag util": 29, "tag korea": 21, "tag search": 12, "tag pipeline": 11, "tag finance": 11, "tag github": 8,
		"tag geo": 6, "tag example": 6, "tag weather": 4,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
