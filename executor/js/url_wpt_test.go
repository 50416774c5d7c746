package js

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wpt reads a file of the WHATWG URL cases, which the module of the parser
// carries with it: what builds this package has them.
func wpt(t *testing.T, name string, into any) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	if err != nil {
		t.Skipf("no go command tells where the module is: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// batches runs body once for each hundred of cases and gives the lists of
// what it returned, joined.
func batches(t *testing.T, cases []any, body string) []string {
	t.Helper()
	var out []string
	for len(cases) > 0 {
		n := min(100, len(cases))
		args, err := json.Marshal(map[string]any{"cases": cases[:n]})
		if err != nil {
			t.Fatal(err)
		}
		rep := run(t, body, string(args))
		var got []string
		if rep.Failure != nil || json.Unmarshal(rep.Result, &got) != nil || len(got) != n {
			t.Fatalf("the batch of %v ended as %s", cases[0], outcome(rep))
		}
		out, cases = append(out, got...), cases[n:]
	}
	return out
}

// wptKnown are the cases that are known to go wrong, by input.
var wptKnown = map[string]string{}

// TestURLParsing runs the cases of the URL standard through new URL, through
// URL.parse and URL.canParse.
func TestURLParsing(t *testing.T) {
	var list []any
	wpt(t, "urltestdata.json", &list)
	var cases []any
	for _, c := range list {
		if _, ok := c.(map[string]any); ok {
			cases = append(cases, c)
		}
	}
	got := batches(t, cases, `const members = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
		return cases.map(c => {
			const call = c.base == null ? [c.input] : [c.input, c.base];
			let u;
			try { u = new URL(...call) } catch (e) {
				if (!(e instanceof TypeError)) return "throws " + e;
				if (URL.canParse(...call) || URL.parse(...call) !== null) return "the three ways to parse do not agree";
				return c.failure ? "" : "fails";
			}
			if (c.failure) return "parses as " + u;
			if (!URL.canParse(...call) || URL.parse(...call).href !== u.href) return "the three ways to parse do not agree";
			for (const m of members) if (m in c && u[m] !== c[m]) return m + " is " + u[m] + ", not " + c[m];
			if ("searchParams" in c && String(u.searchParams) !== c.searchParams) return "searchParams are " + u.searchParams;
			if (new URL(u.href).href !== u.href) return "parsing " + u + " again gives something else";
			return ""
		})`)
	judge(t, cases, got, func(c any) string { return c.(map[string]any)["input"].(string) })
}

// judge demands that 99 of a hundred cases hold and that what does not is
// known.
func judge(t *testing.T, cases []any, got []string, key func(any) string) {
	t.Helper()
	bad := 0
	for i, g := range got {
		if g == "" {
			continue
		}
		bad++
		if _, known := wptKnown[key(cases[i])]; !known {
			t.Errorf("%q: %s", key(cases[i]), g)
		}
	}
	t.Logf("%d of %d cases hold", len(cases)-bad, len(cases))
	if len(cases) < 200 || bad*100 > len(cases) {
		t.Errorf("%d of %d cases go wrong", bad, len(cases))
	}
}

// TestURLSetters runs the cases of the URL standard for the attributes that
// can be set.
func TestURLSetters(t *testing.T) {
	lists := map[string]json.RawMessage{}
	wpt(t, "setters_tests.json", &lists)
	var cases []any
	for name, raw := range lists {
		if name == "comment" {
			continue
		}
		var list []map[string]any
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			c["member"] = name
			cases = append(cases, c)
		}
	}
	got := batches(t, cases, `return cases.map(c => {
			const u = new URL(c.href);
			u[c.member] = c.new_value;
			for (const m in c.expected) if (u[m] !== c.expected[m]) return m + " is " + u[m] + ", not " + c.expected[m];
			return ""
		})`)
	judge(t, cases, got, func(c any) string {
		m := c.(map[string]any)
		return m["member"].(string) + " of " + m["href"].(string) + " = " + m["new_value"].(string)
	})
}
