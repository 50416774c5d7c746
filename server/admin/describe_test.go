package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDescription: openapi.yaml is valid, and has exactly the operations of
// the program, with their roles.
func TestDescription(t *testing.T) {
	doc := openAPI(t)
	var described, served []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			role, _ := op.Extensions["x-role"].(string)
			described = append(described, fmt.Sprint(method, " ", base+path, " ", op.OperationID, " ", role))
			if (method == http.MethodPost || method == http.MethodPut) != (op.RequestBody != nil) {
				t.Errorf("%s %s: a body is described for POST and PUT alone", method, path)
			}
		}
	}
	ids := map[string]bool{}
	for _, rt := range (&Server{}).table() {
		served = append(served, fmt.Sprint(rt.method, " ", rt.path, " ", rt.id, " ", rt.role))
		if ids[rt.id] {
			t.Errorf("two operations are called %s", rt.id)
		}
		ids[rt.id] = true
	}
	slices.Sort(described)
	slices.Sort(served)
	if d := cmp.Diff(described, served); d != "" {
		t.Errorf("operations (-described +served):\n%s", d)
	}
}

// TestEveryChangeIsAnAct: what is no GET is an act, but for questions that
// need a body, and each route is of one kind.
func TestEveryChangeIsAnAct(t *testing.T) {
	questions := []string{"lint", "decide"}
	for _, rt := range (&Server{}).table() {
		kinds := 0
		for _, set := range []bool{rt.read != nil, rt.act != nil, rt.raw != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%s is of %d kinds", rt.id, kinds)
		}
		if (rt.method != http.MethodGet) != (rt.act != nil || slices.Contains(questions, rt.id)) {
			t.Errorf("%s %s: what changes something is an act, and nothing else is", rt.method, rt.id)
		}
	}
}

// TestRoles tries every operation as everybody: who lacks the role is refused
// before anything else is looked at, and the refusal is on record.
func TestRoles(t *testing.T) {
	g := newRig(t)
	has := map[string][]string{
		"nobody": {""}, "vera": {"", "viewer"}, "ann": {"", "viewer", "author"}, "pia": {"", "viewer", "approver"},
	}
	fill := strings.NewReplacer("{tool}", "nosuch", "{id}", "nosuch", "{rule}", "nosuch")
	refusals := 0
	for who, roles := range has {
		for _, rt := range g.srv.routes {
			if rt.id == "events" {
				continue // a stream does not end by itself
			}
			allowed := slices.Contains(roles, string(rt.role))
			// A body that nobody takes: whoever has the role is told so.
			r := g.do(who, rt.method, strings.TrimPrefix(fill.Replace(rt.path), base), `{"x": 1}`)
			refused := r.status == http.StatusForbidden && r.str("error", "reason") == "role"
			if refused == allowed {
				t.Errorf("%s as %s: %d %.200s", rt.id, who, r.status, r.raw)
			}
			if refused {
				refusals++
			}
		}
	}
	recorded := 0
	for _, e := range g.events() {
		switch {
		case strings.HasSuffix(e, "admin.refuse/"+e[strings.LastIndexByte(e, '/')+1:]):
			recorded++
		default:
			t.Errorf("there is an act on record: %s", e)
		}
	}
	if recorded == 0 || recorded > refusals {
		t.Errorf("%d refusals, %d on record", refusals, recorded)
	}
}

// TestDoor: who is nobody, comes from elsewhere, or sends what a page could
// send, is refused on every path.
func TestDoor(t *testing.T) {
	g := newRig(t)
	for name, c := range map[string]struct {
		who, method, path string
		headers           []string
		status            int
		code, reason      string
	}{
		"no credentials":       {"", "GET", "/me", nil, 401, "UNAUTHENTICATED", "refused"},
		"unknown":              {"mallory", "GET", "/me", nil, 401, "UNAUTHENTICATED", "refused"},
		"unknown, no path":     {"", "GET", "/nosuch", nil, 401, "UNAUTHENTICATED", "refused"},
		"unknown, description": {"", "GET", "/openapi.yaml", nil, 401, "UNAUTHENTICATED", "refused"},
		"provider down":        {"down", "GET", "/me", nil, 503, "UNAUTHENTICATED", "unavailable"},
		"nobody authenticated": {"empty", "GET", "/me", nil, 503, "UNAUTHENTICATED", "unavailable"},
		"another origin":       {"root", "GET", "/me", []string{"Origin", "http://evil.example"}, 403, "", ""},
		"null origin":          {"root", "GET", "/me", []string{"Origin", "null"}, 403, "", ""},
		"another site":         {"root", "POST", "/reload", []string{"Sec-Fetch-Site", "cross-site"}, 403, "", ""},
		"form":                 {"root", "POST", "/reload", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "USAGE", "content-type"},
		"text":                 {"root", "POST", "/reload", []string{"Content-Type", "text/plain"}, 415, "USAGE", "content-type"},
		"no type":              {"root", "POST", "/reload", []string{"Content-Type", ""}, 415, "USAGE", "content-type"},
		"no path":              {"root", "GET", "/nosuch", nil, 404, "NOT_FOUND", "no-such-path"},
		"no method":            {"root", "PATCH", "/me", nil, 405, "USAGE", "method-not-allowed"},
		"no method of a tool":  {"root", "DELETE", "/catalog/base64", nil, 405, "USAGE", "method-not-allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.want(c.status, c.who, c.method, c.path, nil, c.headers...)
			if c.code != "" {
				g.failed(r, c.code, c.reason)
			}
			if strings.Contains(r.raw, "secret detail") {
				t.Errorf("the cause left: %s", r.raw)
			}
			if c.status == 401 && r.header.Get("WWW-Authenticate") == "" {
				t.Error("no challenge")
			}
		})
	}
	if len(g.refused) != 6 {
		t.Errorf("%d refusals were reported, want 6", len(g.refused))
	}
	req, err := http.NewRequest(http.MethodGet, g.url+base+"/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("another Host: %d", res.StatusCode)
	}
	if got := g.events(); len(got) > 0 {
		t.Errorf("acts on record: %v", got)
	}
}

// TestRequests: bodies and queries are closed, bounded, and their failures say
// where.
func TestRequests(t *testing.T) {
	g := newRig(t, func(o *Options) { o.MaxBodyBytes = 4096 })
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		reason, pointer    string
		says               string
	}{
		"unknown member":     {"POST", "/catalog/base64/run", `{"argz": {}}`, 400, "unknown-member", "/argz", `did you mean \"args\"`},
		"unknown nested":     {"POST", "/decisions", `{"tool": "base64", "principal": {"subject": "x", "groop": []}}`, 400, "unknown-member", "/principal/groop", `did you mean \"groups\"`},
		"member twice":       {"POST", "/catalog/base64/run", `{"args": {}, "args": {}}`, 400, "duplicate-member", "/args", ""},
		"another type":       {"POST", "/tests", `{"tools": "base64"}`, 400, "bad-value", "/tools", ""},
		"no JSON":            {"POST", "/reload", `{`, 400, "bad-syntax", "", "at byte"},
		"a list":             {"POST", "/reload", `[]`, 400, "bad-value", "", ""},
		"null":               {"POST", "/reload", `null`, 400, "bad-value", "", ""},
		"more after the end": {"POST", "/reload", `{} {}`, 400, "bad-syntax", "", ""},
		"no UTF-8":           {"POST", "/tests", "{\"tools\": [\"\xff\"]}", 400, "bad-syntax", "", ""},
		"too large":          {"POST", "/tests", `{"tools": ["` + strings.Repeat("x", 5000) + `"]}`, 413, "body-too-large", "", ""},
		"unknown parameter":  {"GET", "/catalog?limt=1", "", 400, "query", "", `did you mean \"limit\"`},
		"parameter twice":    {"GET", "/catalog?limit=1&limit=2", "", 400, "query", "", ""},
		"limit zero":         {"GET", "/catalog?limit=0", "", 400, "limit", "", ""},
		"limit beyond":       {"GET", "/catalog?limit=201", "", 400, "limit", "", ""},
		"cursor":             {"GET", "/catalog?cursor=abc", "", 400, "cursor", "", ""},
		"cursor of another":  {"GET", "/catalog?cursor=" + cursor{"drafts", "x"}.String(), "", 400, "cursor", "", ""},
		"state":              {"GET", "/catalog?state=active", "", 400, "state", "", ""},
		"since":              {"GET", "/audit/calls?since=soon", "", 400, "since", "", ""},
		"outcome":            {"GET", "/audit/calls?outcome=FINE", "", 400, "outcome", "", ""},
		"cursor of the log":  {"GET", "/audit/calls?cursor=" + cursor{"calls", "-5"}.String(), "", 400, "cursor", "", ""},
		"id":                 {"GET", "/jobs/a%2Fb", "", 400, "id", "", ""},
		"tool":               {"GET", "/catalog/" + strings.Repeat("x", 300), "", 400, "id", "", ""},
		"no such tool":       {"GET", "/catalog/nosuch", "", 404, "unknown-tool", "", ""},
		"no such job":        {"GET", "/jobs/nosuch", "", 404, "no-such-job", "", ""},
		"no such approval":   {"GET", "/approvals/nosuch", "", 404, "no-such-approval", "", ""},
		"no such call":       {"GET", "/audit/calls/nosuch", "", 404, "no-record", "", ""},
		"no such rule":       {"GET", "/policy/rules/nosuch", "", 404, "no-such-rule", "", ""},
		"tests of nothing":   {"POST", "/tests", `{}`, 400, "bad-value", "", ""},
		"tool and document":  {"POST", "/decisions", `{"tool": "base64", "document": {}}`, 400, "bad-value", "", ""},
		"origin":             {"POST", "/decisions", `{"tool": "base64", "origin": "moon"}`, 400, "origin", "/origin", ""},
		"arguments":          {"POST", "/decisions", `{"tool": "base64", "args": {"x": 1}}`, 400, "", "", ""},
		"document a text":    {"POST", "/lint", `{"document": "x"}`, 400, "bad-value", "/document", ""},
		"bad document":       {"POST", "/drafts", `{"document": {"name": "x"}}`, 422, "", "", ""},
		"keys":               {"GET", "/keys", "", 501, "not-offered", "", ""},
		"profile too long":   {"GET", "/debug/pprof/profile?seconds=3600", "", 400, "seconds", "", ""},
		"the command line":   {"GET", "/debug/pprof/cmdline", "", 404, "no-such-path", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := g.want(c.status, "root", c.method, c.path, c.body)
			if c.reason != "" && r.str("error", "reason") != c.reason || c.pointer != "" && r.str("error", "pointer") != c.pointer || !strings.Contains(r.raw, c.says) {
				t.Errorf("answered %s", r.raw)
			}
		})
	}
	if got := g.events(); len(got) > 0 {
		t.Errorf("what was refused is on record as an act: %v", got)
	}
}
