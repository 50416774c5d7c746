package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// actions gives the allowed acts of an item.
func actions(item map[string]any) (out []string) {
	list, _ := item["actions"].([]any)
	for _, x := range list {
		p, _ := x.(map[string]any)
		if p["allowed"] == true {
			out = append(out, p["action"].(string))
		}
	}
	return out
}

// TestDraftsLife takes a document from its creation to its deletion.
func TestDraftsLife(t *testing.T) {
	g := newRig(t)
	made := g.want(201, "ann", "POST", "/drafts", shout)
	id, etag := made.str("toolId"), made.header.Get("ETag")
	if made.header.Get("Location") != base+"/drafts/"+id || etag == "" || made.str("state") != "DRAFT" {
		t.Fatalf("made %v %s", made.header, made.raw)
	}
	if d := cmp.Diff([]string{"test", "publish", "edit", "delete"}, actions(made.body)); d != "" {
		t.Errorf("actions of a draft:\n%s", d)
	}
	file := filepath.Join(g.svc.Home, "catalog", "tool-"+id+".json")
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", st, err)
	}
	g.failed(g.want(409, "ann", "POST", "/drafts", shout), "SPEC_INVARIANT", "name-conflict")
	g.failed(g.want(409, "ann", "POST", "/drafts", strings.Replace(shout, `"shout"`, `"BASE64"`, 1)), "SPEC_INVARIANT", "name-conflict")
	for _, bad := range []string{"../up", "a/b", ".x", "", "a b", strings.Repeat("x", 200)} {
		body := strings.Replace(shout, `"name": "shout"`, fmt.Sprintf(`"name": "other", "toolId": %q`, bad), 1)
		if r := g.do("ann", "POST", "/drafts", body); r.status < 400 && bad != "" {
			t.Errorf("the toolId %q is taken", bad)
		}
	}
	g.failed(g.want(428, "ann", "PUT", "/drafts/"+id, shout), "USAGE", "precondition-required")
	g.failed(g.want(412, "ann", "PUT", "/drafts/"+id, shout, "If-Match", `"sha256:0"`), "USAGE", "precondition-failed")
	g.failed(g.want(428, "ann", "DELETE", "/drafts/"+id, nil), "USAGE", "precondition-required")

	louder := strings.Replace(strings.Replace(shout, `'!'`, `'!!'`, 1), `"name": "shout"`, `"name": "scream"`, 1)
	put := g.want(200, "ann", "PUT", "/drafts/"+id, louder, "If-Match", etag)
	if put.str("toolId") != id || put.str("name") != "scream" || put.header.Get("ETag") == etag {
		t.Errorf("put %s", put.raw)
	}
	g.failed(g.want(412, "abe", "PUT", "/drafts/"+id, shout, "If-Match", etag), "USAGE", "precondition-failed")

	done := g.job(g.want(202, "ann", "POST", "/catalog/scream/publish", `{}`))
	done = g.want(200, "ann", "GET", "/jobs/"+done.str("id"), nil)
	if done.str("state") != "succeeded" || done.str("result", "result") != "HEY!!" {
		t.Fatalf("publishing ended %s", done.raw)
	}
	live := g.want(200, "ann", "GET", "/drafts/"+id, nil)
	if live.str("state") != "ACTIVE" {
		t.Fatalf("published %s", live.raw)
	}
	if d := cmp.Diff([]string{"run", "test", "publish", "draft", "edit"}, actions(live.body)); d != "" {
		t.Errorf("actions of a served tool:\n%s", d)
	}
	if r := g.want(200, "ann", "POST", "/catalog/scream/run", `{"args": {"text": "a"}}`); r.str("result") != "A!!" {
		t.Errorf("ran %s", r.raw)
	}
	g.failed(g.want(409, "ann", "DELETE", "/drafts/"+id, nil, "If-Match", live.header.Get("ETag")), "USAGE", "in-service")

	// An edit takes it out of service: what passed is what runs.
	again := g.want(200, "ann", "PUT", "/drafts/"+id, louder, "If-Match", live.header.Get("ETag"))
	if again.str("state") != "DRAFT" {
		t.Errorf("edited in service: %s", again.raw)
	}
	g.failed(g.want(409, "ann", "POST", "/catalog/scream/run", `{"args": {"text": "a"}}`), "NOT_ACTIVE", "state-draft")

	// Somebody edits the file meanwhile.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "!!", "!?", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	g.failed(g.want(412, "ann", "PUT", "/drafts/"+id, shout, "If-Match", again.header.Get("ETag")), "LOCAL_PASS_FAILED", "changed-on-disk")
	now := g.want(200, "ann", "GET", "/drafts/"+id, nil)
	g.want(204, "ann", "DELETE", "/drafts/"+id, nil, "If-Match", now.header.Get("ETag"))
	g.want(404, "ann", "GET", "/drafts/"+id, nil)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is still there")
	}
	for _, id := range []string{"base64", "e30d037d-20cf-55f2-b43a-1b89560417da"} {
		r := g.do("ann", "DELETE", "/drafts/"+id, nil, "If-Match", g.do("ann", "GET", "/catalog/base64", nil).header.Get("ETag"))
		if r.status != 404 && r.status != 409 {
			t.Errorf("a bundled tool, as %s: %d %s", id, r.status, r.raw)
		}
	}
	want := []string{"ann draft.create", "ann draft.replace", "ann admin/publishTool", "ann publish", "ann draft.delete"}
	got := g.events()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not on record: %v", w, got)
		}
	}
}

// TestFoldersAndBundles of the catalog are not replaced by one document.
func TestFoldersAndBundles(t *testing.T) {
	g := newRig(t)
	dir := filepath.Join(g.svc.Home, "catalog")
	doc := func(name string) string {
		return fmt.Sprintf(`{"name": %q, "description": "Is a tool of a test. Returns one.", "codeType": "Javascript", "code": "return 1;", "draft": true}`, name)
	}
	for path, text := range map[string]string{
		"folder/spec.json": `{"name": "folder", "description": "Is a tool of a test. Returns one.", "codeType": "Javascript", "draft": true}`,
		"folder/action.js": "return 1;", "two.json": "[" + doc("one") + "," + doc("two") + "]",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700), os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	g.want(200, "root", "POST", "/reload", nil)
	for _, name := range []string{"folder", "one"} {
		tool := g.want(200, "ann", "GET", "/catalog/"+name, nil)
		body := `{"document": ` + doc(name) + `}`
		g.failed(g.want(409, "ann", "PUT", "/drafts/"+tool.str("toolId"), body, "If-Match", tool.header.Get("ETag")), "USAGE", "read-only")
		g.failed(g.want(409, "ann", "DELETE", "/drafts/"+tool.str("toolId"), nil, "If-Match", tool.header.Get("ETag")), "USAGE", "read-only")
	}
	if g.want(200, "ann", "GET", "/catalog/two", nil).str("name") != "two" {
		t.Error("a neighbour is gone")
	}
}

// TestPages: every page together is the list.
func TestPages(t *testing.T) {
	g := newRig(t)
	for i := range 3 {
		g.want(200, "root", "POST", "/reload", nil)
		g.want(200, "root", "POST", "/catalog/base64/run", fmt.Sprintf(`{"args": {"text": "%d"}}`, i))
	}
	for _, path := range []string{"/catalog?limit=5", "/audit/calls?limit=1", "/audit/events?limit=1"} {
		name := func(item map[string]any) string { return fmt.Sprint(item["name"], item["seq"]) }
		var all, paged []string
		for _, item := range g.want(200, "root", "GET", strings.Split(path, "?")[0]+"?limit=200", nil).items() {
			all = append(all, name(item))
		}
		for next := ""; ; {
			r := g.want(200, "root", "GET", path+next, nil)
			for _, item := range r.items() {
				paged = append(paged, name(item))
			}
			if r.str("next") == "" {
				break
			}
			next = "&cursor=" + r.str("next")
		}
		if d := cmp.Diff(all, paged); d != "" || len(all) == 0 {
			t.Errorf("%s (-list +pages):\n%s", path, d)
		}
	}
	found := g.want(200, "root", "GET", "/audit/calls?tool=base64&outcome=OK", nil).items()
	if len(found) != 3 || found[0]["origin"] != "admin" {
		t.Errorf("found %v", found)
	}
	story := g.want(200, "vera", "GET", "/audit/calls/"+found[0]["callId"].(string), nil)
	if list, _ := story.body["records"].([]any); len(list) == 0 {
		t.Errorf("story %s", story.raw)
	}
}

// TestDraftsAskNoLess: a document whose mode asks humans less is not a way
// around the choice that needs a reason.
func TestDraftsAskNoLess(t *testing.T) {
	g := newRig(t)
	with := func(mode string) string {
		return strings.Replace(shout, `"name": "shout"`, `"name": "shout", "humanInTheLoop": {"mode": "`+mode+`"}`, 1)
	}
	made := g.want(201, "ann", "POST", "/drafts", with("REQUIRED"))
	path, etag := "/drafts/"+made.str("toolId"), made.header.Get("ETag")
	for name, body := range map[string]string{"no longer": with("DISABLED"), "by risk": with("AUTO_APPROVE"), "by default, at L0": shout} {
		r := g.do("ann", "PUT", path, body, "If-Match", etag)
		if r.status < 400 {
			t.Errorf("%s: %d", name, r.status)
		}
		g.failed(r, "USAGE", "confirmation-required")
	}
	if now := g.want(200, "ann", "GET", path, nil); now.header.Get("ETag") != etag {
		t.Error("a refused document is kept")
	}
	less := g.want(201, "ann", "POST", "/drafts", strings.Replace(with("DISABLED"), `"shout"`, `"other"`, 1))
	g.want(200, "ann", "PUT", "/drafts/"+less.str("toolId"), strings.Replace(with("REQUIRED"), `"shout"`, `"other"`, 1), "If-Match", less.header.Get("ETag"))
}

// TestPublishingAsksNoLess: a tool that is made again under its toolId asks as
// it did in service, until somebody who may choose that says otherwise.
func TestPublishingAsksNoLess(t *testing.T) {
	g := newRig(t)
	with := func(mode string) string {
		return strings.Replace(shout, `"name": "shout"`, `"name": "shout", "humanInTheLoop": {"mode": "`+mode+`"}`, 1)
	}
	publish := func(who, body string) reply { return g.do(who, "POST", "/catalog/shout/publish", body) }
	published := func(who, body string) {
		t.Helper()
		if done := g.job(publish(who, body)); done.str("state") != "succeeded" {
			t.Fatalf("publishing ended %s", done.raw)
		}
	}
	path := "/drafts/" + g.want(201, "ann", "POST", "/drafts", with("REQUIRED")).str("toolId")
	again := func(mode string) {
		t.Helper()
		if g.want(200, "ann", "GET", path, nil).str("state") == "ACTIVE" {
			g.want(200, "ann", "POST", "/catalog/shout/draft", `{}`)
		}
		g.want(204, "ann", "DELETE", path, nil, "If-Match", g.want(200, "ann", "GET", path, nil).header.Get("ETag"))
		if made := g.want(201, "ann", "POST", "/drafts", with(mode)); "/drafts/"+made.str("toolId") != path {
			t.Fatalf("another tool was made: %s", made.raw)
		}
	}
	published("ann", `{}`)
	again("DISABLED")
	g.failed(publish("ann", `{"justification": "x", "reason": "x", "confirmed": true}`), "POLICY_DENIED", "role")
	if slices.Contains(actions(g.want(200, "ann", "GET", path, nil).body), "publish") {
		t.Error("publish is shown as allowed")
	}
	g.failed(publish("root", `{"justification": "x"}`), "USAGE", "reason-required")
	g.failed(publish("root", `{"reason": "x"}`), "USAGE", "confirmation-required")
	if slices.Contains(g.events(), "root approval.lower") {
		t.Error("what was refused is on record as done")
	}
	published("root", `{"reason": "is a scratch tool", "confirmed": true}`)
	if !slices.Contains(g.events(), "root approval.lower") {
		t.Error("asking less is not on record")
	}
	again("DISABLED")
	published("ann", `{}`) // as it was
	again("REQUIRED")
	published("ann", `{}`) // asks more
	again("AUTO_APPROVE")
	g.failed(publish("ann", `{}`), "POLICY_DENIED", "role")
}

// TestApprovals: what is shown as allowed is what is then done, by whoever may.
func TestApprovals(t *testing.T) {
	g := newRig(t)
	run := `{"args": {"path": "a.txt", "content": "x"}}`
	ask := func() string {
		r := g.want(202, "ann", "POST", "/catalog/writeTextFile/run", run)
		g.failed(r, "APPROVAL_PENDING", "pending")
		return r.str("pending", "approvalId")
	}
	id := ask()
	shown := g.want(200, "pia", "GET", "/approvals/"+id, nil)
	if strings.Contains(shown.raw, "nonce") || strings.Contains(shown.raw, `"ask"`) || shown.str("principal", "subject") != "ann" {
		t.Errorf("shown %s", shown.raw)
	}
	if d := cmp.Diff([]string{"approve", "deny", "modify"}, actions(shown.body)); d != "" {
		t.Errorf("an approver: %s", d)
	}
	if got := actions(g.want(200, "vera", "GET", "/approvals/"+id, nil).body); got != nil {
		t.Errorf("a viewer may %v", got)
	}
	g.failed(g.want(403, "ann", "POST", "/approvals/"+id+"/approve", nil), "POLICY_DENIED", "role")
	g.failed(g.want(501, "pia", "POST", "/approvals/"+id+"/modify", `{"args": {}}`), "USAGE", "not-offered")
	if r := g.want(200, "pia", "POST", "/approvals/"+id+"/approve", nil); r.str("state") != "accepted" || r.str("approver", "subject") != "pia" || actions(r.body) != nil {
		t.Errorf("approved %s", r.raw)
	}
	g.failed(g.want(409, "pia", "POST", "/approvals/"+id+"/deny", nil), "APPROVAL_DENIED", "")
	// Another caller's same call is not the one that was shown.
	g.want(202, "abe", "POST", "/catalog/writeTextFile/run", run)
	if r := g.want(200, "ann", "POST", "/catalog/writeTextFile/run", run); r.str("outcome") != "OK" {
		t.Errorf("ran %s", r.raw)
	}
	if r := g.want(200, "ann", "POST", "/catalog/writeTextFile/run", run); r.str("outcome") != "OK" {
		t.Errorf("told again %s", r.raw)
	}
	run = `{"args": {"path": "b.txt", "content": "y"}}` // another call
	id = ask()
	g.want(200, "pia", "POST", "/approvals/"+id+"/deny", `{}`)
	g.failed(g.want(403, "ann", "POST", "/catalog/writeTextFile/run", run), "APPROVAL_DENIED", "declined")
	if n := len(g.want(200, "vera", "GET", "/approvals?state=declined&state=consumed", nil).items()); n != 2 {
		t.Errorf("%d settled questions", n)
	}
	if n := len(g.want(200, "vera", "GET", "/approvals", nil).items()); n != 1 {
		t.Errorf("%d open questions", n)
	}
}

// TestModify hands the arguments to whoever does it, for those who may.
func TestModify(t *testing.T) {
	var got json.RawMessage
	g := newRig(t, func(o *Options) {
		s := o.Service
		o.Modify = func(ctx context.Context, p decision.Principal, id string, args json.RawMessage) (approval.Pending, error) {
			got = args
			return s.Approvals.Get(ctx, id)
		}
	})
	id := g.want(202, "ann", "POST", "/catalog/writeTextFile/run", `{"args": {"path": "a", "content": "x"}}`).str("pending", "approvalId")
	g.want(403, "ann", "POST", "/approvals/"+id+"/modify", `{"args": {"path": "b"}}`)
	g.want(400, "pia", "POST", "/approvals/"+id+"/modify", `{}`)
	g.want(200, "pia", "POST", "/approvals/"+id+"/modify", `{"args": {"path": "b"}}`)
	if string(got) != `{"path": "b"}` {
		t.Errorf("modified with %s", got)
	}
}

// blocked is a runtime whose calls wait for the end of their context.
type blocked struct {
	executor.Runtime
	began chan struct{}
}

func (b blocked) Run(ctx context.Context, c worker.Call, _ worker.Broker) (worker.Reply, error) {
	b.began <- struct{}{}
	<-ctx.Done()
	return worker.Reply{}, ctx.Err()
}

// TestJobs: a job that is cancelled stops its work, others may not cancel it,
// and there are only so many.
func TestJobs(t *testing.T) {
	g := newRig(t)
	began := make(chan struct{}, 100)
	real := g.svc.Engine.Runtime
	g.svc.Engine.Runtime = blocked{real, began}
	j := g.want(202, "ann", "POST", "/tests", `{"tools": ["base64", "uuid"]}`)
	<-began
	id := j.str("id")
	g.failed(g.want(403, "abe", "POST", "/jobs/"+id+"/cancel", nil), "POLICY_DENIED", "not-yours")
	if got := actions(g.want(200, "abe", "GET", "/jobs/"+id, nil).body); got != nil {
		t.Errorf("somebody else may %v", got)
	}
	if got := actions(g.want(200, "root", "GET", "/jobs/"+id, nil).body); len(got) != 1 {
		t.Errorf("an admin may %v", got)
	}
	g.want(200, "ann", "POST", "/jobs/"+id+"/cancel", nil)
	end := g.job(j)
	if end.str("state") != "cancelled" || end.str("error", "code") != "INTERRUPTED" {
		t.Errorf("ended %s", end.raw)
	}
	g.failed(g.want(409, "ann", "POST", "/jobs/"+id+"/cancel", nil), "USAGE", "ended")
	closes := g.records(audit.PhaseClose)
	if len(closes) != 1 || closes[0].Error == nil || closes[0].Error.Code != fault.Interrupted {
		t.Errorf("the call of the job: %+v", closes)
	}
	for range 4 {
		g.want(202, "ann", "POST", "/tests", `{"tools": ["base64"]}`)
	}
	g.failed(g.want(429, "ann", "POST", "/tests", `{"tools": ["base64"]}`), "RATE_LIMITED", "jobs")
	g.want(202, "abe", "POST", "/tests", `{"tools": ["base64"]}`)
	for _, item := range g.want(200, "root", "GET", "/jobs", nil).items() {
		if item["state"] == "running" {
			g.want(200, "root", "POST", "/jobs/"+item["id"].(string)+"/cancel", nil)
		}
	}
	g.until("all jobs to end", func() bool {
		return !slices.ContainsFunc(g.want(200, "root", "GET", "/jobs", nil).items(), func(i map[string]any) bool { return i["state"] == "running" })
	})
	g.svc.Engine.Runtime = real
	mine := g.want(202, "abe", "POST", "/tests", `{"tools": ["base64"]}`)
	g.job(mine)
	if r := g.want(200, "vera", "GET", "/jobs/"+mine.str("id"), nil); strings.Contains(r.raw, "base64") || r.body["result"] != nil {
		t.Errorf("somebody else sees %s", r.raw)
	}
	if r := g.want(200, "root", "GET", "/jobs/"+mine.str("id"), nil); !strings.Contains(r.raw, "base64") {
		t.Errorf("an admin sees %s", r.raw)
	}
	ok := g.job(g.want(202, "ann", "POST", "/tests", `{"tools": ["base64", "uuid"]}`))
	ok = g.want(200, "ann", "GET", "/jobs/"+ok.str("id"), nil)
	if ok.str("state") != "succeeded" || !strings.Contains(ok.raw, `"passed":2`) {
		t.Errorf("ended %s", ok.raw)
	}
}

// TestNothingWithoutARecord: where the log takes nothing, no act is done and no
// call runs.
func TestNothingWithoutARecord(t *testing.T) {
	g := newRig(t)
	id := g.want(201, "ann", "POST", "/drafts", shout)
	ask := g.want(202, "ann", "POST", "/catalog/writeTextFile/run", `{"args": {"path": "a", "content": "x"}}`).str("pending", "approvalId")
	if err := g.svc.Audit.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][3]string{
		"reload":  {"root", "POST", "/reload"},
		"run":     {"ann", "POST", "/catalog/base64/run"},
		"publish": {"ann", "POST", "/catalog/shout/publish"},
		"draft":   {"ann", "POST", "/catalog/base64/draft"},
		"test":    {"ann", "POST", "/tests"},
		"approve": {"pia", "POST", "/approvals/" + ask + "/approve"},
		"delete":  {"ann", "DELETE", "/drafts/" + id.str("toolId")},
	} {
		body := map[string]any{"run": map[string]any{"args": map[string]any{"text": "x"}}, "test": map[string]any{"tools": []string{"base64"}}}[name]
		r := g.do(c[0], c[1], c[2], body, "If-Match", id.header.Get("ETag"))
		if r.status != http.StatusServiceUnavailable || r.str("error", "code") != "AUDIT_UNAVAILABLE" {
			t.Errorf("%s: %d %.300s", name, r.status, r.raw)
		}
	}
	if g.want(200, "ann", "GET", "/catalog/base64", nil).str("state") != "ACTIVE" || g.want(200, "ann", "GET", "/drafts/"+id.str("toolId"), nil).str("state") != "DRAFT" {
		t.Error("an act took effect without a record")
	}
	if g.want(200, "pia", "GET", "/approvals/"+ask, nil).str("state") != "pending" {
		t.Error("an answer took effect without a record")
	}
	if n := len(g.want(200, "ann", "GET", "/jobs", nil).items()); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// keyStore is a store of keys in memory.
type keyStore struct{ keys []Key }

func (s *keyStore) List(context.Context) ([]Key, error) { return s.keys, nil }

func (s *keyStore) Create(_ context.Context, _ decision.Principal, w NewKey) (Key, string, error) {
	k := Key{ID: "k1", Name: w.Name, Subject: w.Subject, Groups: []string{}, Scopes: []string{}, State: "active", CreatedAt: time.Now()}
	s.keys = append(s.keys, k)
	return k, "tw_k1_secret", nil
}

func (s *keyStore) Revoke(_ context.Context, _ decision.Principal, id string) (Key, error) {
	for i := range s.keys {
		if s.keys[i].ID == id {
			s.keys[i].State = "revoked"
			return s.keys[i], nil
		}
	}
	return Key{}, fault.New(fault.NotFound, "no-such-key", "there is no key %q", id)
}

func (s *keyStore) Rotate(context.Context, decision.Principal) (string, error) { return "m2", nil }

func TestKeys(t *testing.T) {
	g := newRig(t, func(o *Options) { o.Keys = &keyStore{} })
	g.want(400, "root", "POST", "/keys", `{}`)
	if r := g.want(201, "root", "POST", "/keys", `{"name": "ci", "groups": ["authors"]}`); r.str("token") == "" || r.str("key", "id") != "k1" {
		t.Errorf("made %s", r.raw)
	}
	if r := g.want(200, "root", "GET", "/keys", nil); len(r.items()) != 1 || strings.Contains(r.raw, "secret") {
		t.Errorf("listed %s", r.raw)
	}
	if r := g.want(200, "root", "POST", "/keys/k1/revoke", nil); r.str("state") != "revoked" {
		t.Errorf("revoked %s", r.raw)
	}
	g.want(404, "root", "POST", "/keys/k2/revoke", nil)
	if r := g.want(200, "root", "POST", "/keys/rotate", nil); r.str("keyId") != "m2" {
		t.Errorf("rotated %s", r.raw)
	}
	g.want(403, "ann", "GET", "/keys", nil)
}

// TestRest reads what else there is; each answer is held against its
// description.
func TestRest(t *testing.T) {
	g := newRig(t)
	if r := g.want(200, "nobody", "GET", "/me", nil); r.str("principal", "subject") != "nobody" || len(r.body["roles"].([]any)) != 0 {
		t.Errorf("me: %s", r.raw)
	}
	for _, path := range []string{"/health", "/policy", "/policy/rules", "/policy/rules/hitl-floor", "/runtime", "/exposure", "/jobs", "/drafts", "/openapi.yaml", "/debug/pprof/", "/debug/pprof/heap"} {
		g.want(200, "root", "GET", path, nil)
	}
	r := g.want(200, "vera", "POST", "/decisions", `{"tool": "writeTextFile", "args": {"path": "a", "content": "x"}, "explain": true}`)
	if r.str("decision", "riskLevel") != "L4" || r.body["explanation"] == nil || r.body["visible"] != true {
		t.Errorf("decided %.300s", r.raw)
	}
	open := `{"document": {"name": "x", "codeType": "Javascript", "code": "return 1;", "sandboxOverrides": {"networkMode": "open"}}, "explain": true}`
	g.want(403, "vera", "POST", "/decisions", open)
	if r := g.want(403, "ann", "POST", "/decisions", open); r.str("error", "code") != "RESOLVER_REJECT" || r.body["explanation"] == nil || r.body["decision"] != nil {
		t.Errorf("rejected %.300s", r.raw)
	}
	if r := g.want(200, "ann", "POST", "/lint", open[:strings.LastIndex(open, ",")]+"}"); r.body["ok"] != false || !strings.Contains(r.raw, "RESOLVER_REJECT") {
		t.Errorf("linted %s", r.raw)
	}
	if r := g.want(200, "ann", "POST", "/catalog/base64/draft", nil); r.str("state") != "DRAFT" {
		t.Errorf("drafted %s", r.raw)
	}
	g.failed(g.want(409, "ann", "POST", "/catalog/base64/draft", nil), "NOT_ACTIVE", "state-draft")
	g.want(200, "root", "POST", "/reload", `{}`)
	want := []string{"ann admin/draftTool", "ann draft", "root admin/reload"}
	if d := cmp.Diff(want, slices.DeleteFunc(g.events(), func(e string) bool { return strings.Contains(e, "admin.refuse") })); d != "" {
		t.Errorf("acts (-want +got):\n%s", d)
	}
}

// TestChoices: choices about what is served, and about when a human is asked,
// go to whoever makes them, checked and on record first.
func TestChoices(t *testing.T) {
	g := newRig(t)
	g.failed(g.want(501, "root", "POST", "/exposure", `{"hide": ["base64"]}`), "USAGE", "not-offered")
	g.failed(g.want(501, "root", "POST", "/catalog/base64/approval", `{"mode": "disabled"}`), "USAGE", "not-offered")
	if got := slices.DeleteFunc(g.events(), func(e string) bool { return strings.Contains(e, "refuse") }); len(got) != 0 {
		t.Errorf("on record: %v", got)
	}

	var chosen []string
	g = newRig(t, func(o *Options) {
		o.Choose = func(_ context.Context, p decision.Principal, c Choice) error {
			raw, err := json.Marshal(c)
			chosen = append(chosen, p.Subject+" "+string(raw))
			return err
		}
		o.SetApproval = func(_ context.Context, p decision.Principal, tool *catalog.Tool, mode, reason string, confirmed bool) (any, error) {
			chosen = append(chosen, fmt.Sprint(p.Subject, " ", tool.Spec.Name, " ", mode, " ", reason, " ", confirmed))
			return map[string]string{"new": mode}, nil
		}
	})
	for _, bad := range []string{`{}`, `{"expose": []}`, `{"preset": "a", "hide": ["base64"]}`} {
		g.failed(g.want(400, "root", "POST", "/exposure", bad), "USAGE", "bad-value")
	}
	g.failed(g.want(404, "root", "POST", "/exposure", `{"hide": ["nosuch"]}`), "NOT_FOUND", "unknown-tool")
	g.want(200, "root", "POST", "/exposure", `{"hide": ["base64"]}`)
	g.want(200, "root", "POST", "/exposure", `{"preset": ""}`)
	for _, body := range []string{`{"preset": "everything"}`, `{"expose": ["base64"]}`, `{"hide": ["base64"]}`, `{"autoExpose": true}`} {
		g.failed(g.want(403, "ann", "POST", "/exposure", body), "POLICY_DENIED", "role")
	}
	g.want(403, "ann", "POST", "/catalog/base64/approval", `{"mode": "disabled"}`)
	g.want(200, "root", "POST", "/catalog/base64/approval", `{"mode": "disabled", "reason": "it only computes", "confirmed": true}`)
	want := []string{
		`root {"preset":null,"autoExpose":null,"expose":null,"hide":["base64"]}`, `root {"preset":"","autoExpose":null,"expose":null,"hide":null}`,
		"root base64 disabled it only computes true",
	}
	if d := cmp.Diff(want, chosen); d != "" {
		t.Errorf("chosen (-want +got):\n%s", d)
	}
	acts := slices.DeleteFunc(g.events(), func(e string) bool { return strings.Contains(e, "refuse") })
	if d := cmp.Diff([]string{"root admin/choose", "root admin/choose", "root admin/setApproval"}, acts); d != "" {
		t.Errorf("acts (-want +got):\n%s", d)
	}
}

// TestExposureInForce: what is read is what a reload left in force, with the
// kept choices beside it.
func TestExposureInForce(t *testing.T) {
	g := newRig(t)
	read := func() string { return g.want(200, "vera", "GET", "/exposure", nil).raw }
	if got := read(); !strings.Contains(got, `"preset":"everything"`) || !strings.Contains(got, `"kept":{"autoExpose":true,"preset":""}`) {
		t.Errorf("at first %s", got)
	}
	next := *g.svc.Config
	next.Catalog.Exclude.Names = []string{"uuid"}
	_, err := g.svc.Reconfigure(t.Context(), &next)
	ann := decision.Principal{Subject: "ann", Method: "oidc"}
	if err := errors.Join(err, g.svc.AutoExpose(t.Context(), ann, false), g.svc.KeepPreset(t.Context(), ann, "dev-essentials")); err != nil {
		t.Fatal(err)
	}
	if got := read(); !strings.Contains(got, `"uuid"`) || !strings.Contains(got, `"kept":{"autoExpose":false,"preset":"dev-essentials"}`) {
		t.Errorf("then %s", got)
	}
}

// TestRefusedRunsAreRecorded: a call that is refused before it can be made
// leaves its one record, as a broken message of MCP does.
func TestRefusedRunsAreRecorded(t *testing.T) {
	g := newRig(t, func(o *Options) { o.MaxBodyBytes = 1000 })
	for name, tc := range map[string]struct {
		who, body, reason string
		status            int
		header            []string
	}{
		"a member twice":    {"ann", `{"args": {}, "args": {}}`, "duplicate-member", 400, nil},
		"no JSON":           {"ann", `{"args": `, "bad-syntax", 400, nil},
		"unknown member":    {"ann", `{"arg": {}}`, "unknown-member", 400, nil},
		"too large":         {"ann", `{"args": {"text": "` + strings.Repeat("x", 2000) + `"}}`, "body-too-large", 413, nil},
		"without the role":  {"vera", `{"args": {}}`, "role", 403, nil},
		"of a form, maybe":  {"ann", `{"args": {}}`, "content-type", 415, []string{"Content-Type", "text/plain"}},
		"a hidden argument": {"ann", `{"args": {}, "s3cret": 1}`, "unknown-member", 400, nil},
	} {
		before := len(g.records(audit.PhaseClose))
		r := g.want(tc.status, tc.who, "POST", "/catalog/base64/run", tc.body, tc.header...)
		if r.str("error", "reason") != tc.reason {
			t.Errorf("%s: answered %s", name, r.raw)
		}
		all := g.records(audit.PhaseClose)[before:]
		if len(all) != 1 {
			t.Errorf("%s: %d close records", name, len(all))
			continue
		}
		if c := all[0]; c.Error == nil || c.Error.Reason == nil || *c.Error.Reason != tc.reason || c.Origin != decision.OriginAdmin ||
			c.Principal == nil || c.Principal.Subject != tc.who || c.Tool == nil || c.Tool.Name != "base64" {
			t.Errorf("%s: recorded %+v %+v", name, c.Error, c.Principal)
		}
	}
}
