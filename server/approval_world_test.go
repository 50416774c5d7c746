package server

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// userHeader names the user of a request, with its groups after a slash.
const userHeader = "X-User"

// byHeader authenticates who a header names: "alice/dev,sre".
type byHeader struct{}

func (byHeader) Authenticate(r *http.Request) (decision.Principal, error) {
	name, groups, _ := strings.Cut(r.Header.Get(userHeader), "/")
	if name == "" {
		return decision.Principal{}, &auth.Refusal{Reason: "missing", Status: http.StatusUnauthorized}
	}
	p := decision.Principal{Subject: name, Method: "oidc", ClientID: "agent", Groups: []string{}, Scopes: []string{}}
	if groups != "" {
		p.Groups = strings.Split(groups, ",")
	}
	return p, nil
}

func withUsers(o *Options) { o.Auth = byHeader{} }

// askingTool is a tool that says which arguments it got and that it may run once
// only with a human's consent.
func askingTool(code string) map[string]any {
	return map[string]any{
		"code": code, "params": []any{map[string]any{"name": "a", "type": "STRING", "required": false}},
		"humanInTheLoop": map[string]any{"mode": "REQUIRED"},
	}
}

// setting changes one value of the settings of the policy.
func (i *installation) setting(value any, path ...string) {
	i.t.Helper()
	file := filepath.Join(i.policy, "rego", "data.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		i.t.Fatal(err)
	}
	var data map[string]any
	if err := json.Unmarshal(raw, &data); err != nil {
		i.t.Fatal(err)
	}
	at := data["toolwarrant"].(map[string]any)["settings"].(map[string]any)
	for _, step := range path[:len(path)-1] {
		at = at[step].(map[string]any)
	}
	at[path[len(path)-1]] = value
	if raw, err = json.Marshal(data); err != nil {
		i.t.Fatal(err)
	}
	writeFile(i.t, file, string(raw))
}

// another opens the same home once more, as another process would.
func (i *installation) another() *service.Service {
	i.t.Helper()
	s, err := service.Open(context.Background(), service.Options{Home: i.home, Config: i.Config, Logger: zerolog.Nop()})
	if err != nil {
		i.t.Fatal(err)
	}
	return s
}

// restart ends the process and begins a new one.
func (i *installation) restart() {
	i.t.Helper()
	if err := i.Close(context.Background()); err != nil {
		i.t.Fatal(err)
	}
	i.Service = i.another()
}

// record is a line of the log.
type record map[string]any

func (r record) at(path ...string) any {
	var v any = map[string]any(r)
	for _, step := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

func (i *installation) records() (all []record) {
	i.t.Helper()
	raw, err := os.ReadFile(i.Audit.Path())
	if err != nil {
		i.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			i.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// runs counts how often the code of a tool was begun.
func (i *installation) runs(tool string) (n int) {
	for _, r := range i.records() {
		if r["phase"] == "open" && r.at("tool", "name") == tool {
			n++
		}
	}
	return n
}

// closeOf is the one close record of a call.
func (i *installation) closeOf(callID string) record {
	i.t.Helper()
	var found []record
	for _, r := range i.records() {
		if r["phase"] == "close" && r["callId"] == callID {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		i.t.Fatalf("%d close records of call %s, want 1", len(found), callID)
	}
	return found[0]
}

// agent is a client of 2026-07-28 that is written by hand.
type agent struct {
	t      *testing.T
	url    string
	user   string // "" = no header
	mute   bool   // it cannot ask its human
	client string
}

// said is an answer to a call.
type said struct {
	verdict string // "ran", "input_required", or CODE/reason
	state   string
	callID  string
	id      string // of the approval that it waits for
	text    string
}

func (a agent) call(tool, args, members string) said {
	a.t.Helper()
	caps := `{"elicitation":{}}`
	if a.mute {
		caps = `{}`
	}
	if a.client == "" {
		a.client = "agent"
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps +
		`,"io.modelcontextprotocol/clientInfo":{"name":"` + a.client + `","version":"1"}}` + members + `}}`
	headers := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
	if a.user != "" {
		headers = append(headers, userHeader, a.user)
	}
	_, answer, text := raw{t: a.t, url: a.url}.post(body, headers...)
	res, ok := answer["result"].(map[string]any)
	if !ok {
		a.t.Fatalf("no result: %s", text)
	}
	return understood(res, text)
}

func understood(res map[string]any, text string) said {
	s := said{verdict: codeOf(res), text: text}
	s.state, _ = res["requestState"].(string)
	meta, _ := res["_meta"].(map[string]any)
	s.callID, _ = meta[metaCallID].(string)
	if sc, ok := res["structuredContent"].(map[string]any); ok {
		if e, ok := sc["error"].(map[string]any); ok {
			s.id, _ = e["approvalId"].(string)
		}
	}
	switch {
	case res["resultType"] == "input_required":
		s.verdict = "input_required"
	case res["isError"] != true:
		s.verdict = "ran"
	}
	return s
}

func person(name string, groups ...string) decision.Principal {
	return decision.Principal{Subject: name, Method: "oidc", ClientID: "console", Groups: append([]string{}, groups...), Scopes: []string{}}
}

// expect checks the answer, how often the tool ran, and what the one close
// record of the call says.
func (i *installation) expect(name string, got said, verdict, human, tool string, runs int) {
	i.t.Helper()
	if got.verdict != verdict {
		i.t.Errorf("%s: answered %s, want %s: %s", name, got.verdict, verdict, got.text)
	}
	if n := i.runs(tool); n != runs {
		i.t.Errorf("%s: %s ran %d times by now, want %d", name, tool, n, runs)
	}
	if verdict == "input_required" {
		return // the call goes on
	}
	r := i.closeOf(got.callID)
	outcome := "DENIED"
	if verdict == "ran" {
		outcome = "OK"
	}
	if r["outcome"] != outcome || r.at("humanInTheLoop", "outcome") != human {
		i.t.Errorf("%s: the record says %v, %v; want %s, %s", name, r["outcome"], r["humanInTheLoop"], outcome, human)
	}
	if code, reason, _ := strings.Cut(verdict, "/"); verdict != "ran" && (r.at("error", "code") != code || r.at("error", "reason") != reason) {
		i.t.Errorf("%s: the record says %v, want %s", name, r["error"], verdict)
	}
}

// answer is somebody's answer elsewhere.
func (i *installation) answer(id string, who decision.Principal, action approval.Action) error {
	_, err := i.Answer(context.Background(), who, id, action)
	return err
}

func (i *installation) accepts(id string) {
	i.t.Helper()
	if err := i.answer(id, person("bob"), approval.ActionAccept); err != nil {
		i.t.Fatal(err)
	}
}
