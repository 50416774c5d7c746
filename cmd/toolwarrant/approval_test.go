package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	canAsk = map[string]any{"elicitation": map[string]any{}}
	cannot = map[string]any{}
)

func written(home, name string) bool {
	_, err := os.Stat(filepath.Join(home, "workspace", name))
	return err == nil
}

// answered are the inputResponses that accept or refuse every question asked.
func answered(asked map[string]any, action string) map[string]any {
	responses := map[string]any{}
	for id := range asked["inputRequests"].(map[string]any) {
		responses[id] = map[string]any{"action": action, "content": map[string]any{}}
	}
	return map[string]any{"inputResponses": responses, "requestState": asked["requestState"]}
}

// shortPolicy is the built-in policy with a human's time cut to a second.
func shortPolicy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "policy")
	if out, errs, status := toolwarrant(t, t.TempDir(), "policy", "init", dir); status != 0 {
		t.Fatalf("policy init: %s%s", out, errs)
	}
	edit(t, filepath.Join(dir, "rego", "data.json"), `"expirySeconds": 120`, `"expirySeconds": 1`)
	// A policy that fails its own tests is not activated.
	edit(t, filepath.Join(dir, "policy_test", "hitl", "hitl_test.rego"), "expirySeconds == 120", "expirySeconds == 1")
	return dir
}

func edit(t *testing.T, path, old, replacement string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not say %s", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, replacement)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// refusal checks that a call was refused as wanted, did not run, and left one
// close record that says so.
func refusal(t *testing.T, home string, result map[string]any, reason, outcome string) {
	t.Helper()
	f := failure(result)
	if f.str("code") != "APPROVAL_DENIED" || f.str("reason") != reason || result["isError"] != true {
		t.Errorf("answered %v, want APPROVAL_DENIED/%s", result, reason)
		return
	}
	got := closes(records(t, home), f.str("callId"))
	if len(got) != 1 {
		t.Errorf("%d close records of the refused call, want 1", len(got))
		return
	}
	if r := got[0]; r.str("outcome") != "DENIED" || r.str("humanInTheLoop", "outcome") != outcome || r.str("error", "reason") != reason {
		t.Errorf("the record says %v %v, want DENIED, %s, %s", r["outcome"], r["humanInTheLoop"], outcome, reason)
	}
	if p := phases(records(t, home), f.str("callId")); strings.Contains(p, "open") {
		t.Errorf("a refused call has the phases %s", p)
	}
}

func TestApprovalStateless(t *testing.T) {
	home := t.TempDir()
	p := serve(t, home, nil)
	args := func(name string) map[string]any { return map[string]any{"path": name, "content": "x"} }
	ask := func(name string) (*wire, map[string]any) {
		w := stateless(t, p.url)
		asked := w.callTool("writeTextFile", args(name), nil, canAsk, nil)
		if asked["resultType"] != "input_required" || asked["requestState"] == nil {
			t.Fatalf("the first call was answered %v", asked)
		}
		if written(home, name) {
			t.Fatal("the tool ran before anybody was asked")
		}
		return w, asked
	}

	t.Run("accept", func(t *testing.T) {
		w, asked := ask("accept.txt")
		res := w.callTool("writeTextFile", args("accept.txt"), answered(asked, "accept"), canAsk, nil)
		if res["isError"] == true || !written(home, "accept.txt") {
			t.Fatalf("accepted, and answered %v", res)
		}
		var ran []record
		for _, r := range records(t, home) {
			if r.str("phase") == "close" && r.str("outcome") == "OK" {
				ran = append(ran, r)
			}
		}
		if len(ran) != 1 || ran[0].str("humanInTheLoop", "outcome") != "ACCEPTED" || phases(records(t, home), ran[0].str("callId")) != "ask open close" {
			t.Errorf("records of the accepted call: %v", ran)
		}
	})
	for action, outcome := range map[string]string{"decline": "DECLINED", "cancel": "CANCELLED"} {
		t.Run(action, func(t *testing.T) {
			w, asked := ask(action + ".txt")
			res := w.callTool("writeTextFile", args(action+".txt"), answered(asked, action), canAsk, nil)
			refusal(t, home, res, map[string]string{"decline": "declined", "cancel": "cancelled"}[action], outcome)
			after := w.callTool("writeTextFile", args(action+".txt"), answered(asked, "accept"), canAsk, nil)
			if after["isError"] != true || written(home, action+".txt") {
				t.Errorf("an acceptance after the refusal was answered %v", after)
			}
		})
	}
	t.Run("forged responses on the first call", func(t *testing.T) {
		w := stateless(t, p.url)
		_, asked := ask("other.txt")
		forged := answered(asked, "accept")
		delete(forged, "requestState")
		res := w.callTool("writeTextFile", args("forged.txt"), forged, canAsk, nil)
		if res["resultType"] != "input_required" || written(home, "forged.txt") {
			t.Errorf("forged responses were answered %v", res)
		}
	})
	t.Run("made-up and altered state, then the rightful retry", func(t *testing.T) {
		w, asked := ask("state.txt")
		rightful := answered(asked, "accept")
		state := asked["requestState"].(string)
		flipped := []byte(state)
		flipped[len(flipped)/2] ^= 1
		for _, wrong := range []string{"made-up", "", string(flipped), state + "A", state[:len(state)-4]} {
			bad := maps.Clone(rightful)
			bad["requestState"] = wrong
			res := w.callTool("writeTextFile", args("state.txt"), bad, canAsk, nil)
			if wrong == "" {
				if res["resultType"] != "input_required" {
					t.Errorf("an empty state was answered %v", res)
				}
				continue
			}
			refusal(t, home, res, "mismatch", "MISMATCH")
		}
		if written(home, "state.txt") {
			t.Fatal("a wrong state let the call through")
		}
		if res := w.callTool("writeTextFile", args("state.txt"), rightful, canAsk, nil); res["isError"] == true || !written(home, "state.txt") {
			t.Errorf("the rightful retry was answered %v", res)
		}
	})
	t.Run("altered arguments, another tool, another client, then the rightful retry, then a replay", func(t *testing.T) {
		w, asked := ask("args.txt")
		rightful := answered(asked, "accept")
		refusal(t, home, w.callTool("writeTextFile", args("elsewhere.txt"), rightful, canAsk, nil), "mismatch", "MISMATCH")
		refusal(t, home, w.callTool("writeTextFile", map[string]any{"path": "args.txt", "content": "y"}, rightful, canAsk, nil), "mismatch", "MISMATCH")
		refusal(t, home, w.callTool("base64", map[string]any{"text": "x"}, rightful, canAsk, nil), "mismatch", "MISMATCH")
		if written(home, "elsewhere.txt") || written(home, "args.txt") {
			t.Fatal("altered arguments ran")
		}
		if res := w.callTool("writeTextFile", args("args.txt"), rightful, canAsk, nil); res["isError"] == true || !written(home, "args.txt") {
			t.Fatalf("the rightful retry was answered %v", res)
		}
		os.Remove(filepath.Join(home, "workspace", "args.txt"))
		refusal(t, home, w.callTool("writeTextFile", args("args.txt"), rightful, canAsk, nil), "mismatch", "MISMATCH")
		if written(home, "args.txt") {
			t.Error("a replay ran")
		}
	})
	t.Run("one acceptance, many at once", func(t *testing.T) {
		_, asked := ask("once.txt")
		var wg sync.WaitGroup
		var mu sync.Mutex
		ran := 0
		for range 10 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				res := stateless(t, p.url).callTool("writeTextFile", args("once.txt"), answered(asked, "accept"), canAsk, nil)
				if res["isError"] != true {
					mu.Lock()
					ran++
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
		if ran != 1 {
			t.Errorf("one acceptance let %d calls through", ran)
		}
	})
	t.Run("client that cannot ask", func(t *testing.T) { cannotAsk(t, home, stateless(t, p.url)) })
	p.stop()
	verifyWhole(t, home)
}

// cannotAsk is a client without elicitation: somebody else has to accept.
func cannotAsk(t *testing.T, home string, w *wire) {
	t.Helper()
	args := map[string]any{"path": "pending-" + w.version + ".txt", "content": "x"}
	res := w.callTool("writeTextFile", args, nil, cannot, nil)
	f := failure(res)
	id := f.str("approvalId")
	if f.str("code") != "APPROVAL_PENDING" || id == "" || written(home, args["path"].(string)) {
		t.Fatalf("answered %v", res)
	}
	got := closes(records(t, home), f.str("callId"))
	if len(got) != 1 || got[0].str("humanInTheLoop", "outcome") != "PENDING" || got[0].str("outcome") != "DENIED" {
		t.Errorf("records of the pending call: %v", got)
	}
	if again := failure(w.callTool("writeTextFile", args, nil, cannot, nil)); again.str("approvalId") != id {
		t.Errorf("the same call, repeated, waits for %q, not for %q", again.str("approvalId"), id)
	}
	out, errs, status := toolwarrant(t, home, "approvals", "list", "--format", "json")
	if status != 0 || !strings.Contains(out, id) {
		t.Errorf("approvals list: %d %s%s", status, out, errs)
	}
	if out, errs, status := toolwarrant(t, home, "approvals", "approve", id); status != 0 {
		t.Fatalf("approvals approve: %d %s%s", status, out, errs)
	}
	if out, errs, status := toolwarrant(t, home, "audit", "why", f.str("callId")); status != 0 || !strings.Contains(out, `"action":"accept"`) {
		t.Errorf("the story of the call does not tell of the approval: %d %s%s", status, out, errs)
	}
	if other := w.callTool("writeTextFile", map[string]any{"path": "x-" + args["path"].(string), "content": "x"}, nil, cannot, nil); failure(other).str("code") != "APPROVAL_PENDING" {
		t.Errorf("another call after the approval was answered %v", other)
	}
	if res := w.callTool("writeTextFile", args, nil, cannot, nil); res["isError"] == true || !written(home, args["path"].(string)) {
		t.Errorf("the approved call, repeated, was answered %v", res)
	}
	os.Remove(filepath.Join(home, "workspace", args["path"].(string)))
	if res := w.callTool("writeTextFile", args, nil, cannot, nil); res["isError"] == true || written(home, args["path"].(string)) {
		t.Errorf("the call that ran, repeated, was answered %v; one acceptance served twice: %v", res, written(home, args["path"].(string)))
	}
	args = map[string]any{"path": "denied-" + w.version + ".txt", "content": "x"}
	denied := failure(w.callTool("writeTextFile", args, nil, cannot, nil)).str("approvalId")
	if _, errs, status := toolwarrant(t, home, "approvals", "deny", denied); status != 0 {
		t.Fatalf("approvals deny: %s", errs)
	}
	refusal(t, home, w.callTool("writeTextFile", args, nil, cannot, nil), "declined", "DECLINED")
}

func TestApprovalStateful(t *testing.T) {
	home := t.TempDir()
	p := serve(t, home, nil)
	call := func(t *testing.T, name, action string, extra map[string]any) map[string]any {
		w := stateful(t, p.url, canAsk)
		return w.callTool("writeTextFile", map[string]any{"path": name, "content": "x"}, extra, nil, func(m map[string]any) map[string]any {
			if written(home, name) {
				t.Error("the tool ran before anybody was asked")
			}
			message, _ := m["params"].(map[string]any)["message"].(string)
			if !strings.Contains(message, "L4") || !strings.Contains(message, name) {
				t.Errorf("the human is asked %q", message)
			}
			return map[string]any{"action": action, "content": map[string]any{}}
		})
	}
	if res := call(t, "accept.txt", "accept", nil); res["isError"] == true || !written(home, "accept.txt") {
		t.Fatalf("accepted, and answered %v", res)
	}
	refusal(t, home, call(t, "decline.txt", "decline", nil), "declined", "DECLINED")
	refusal(t, home, call(t, "cancel.txt", "cancel", nil), "cancelled", "CANCELLED")

	// What only a new client may send counts for nothing here, and a person
	// is asked all the same.
	forged := map[string]any{"inputResponses": map[string]any{"approval": map[string]any{"action": "accept", "content": map[string]any{}}}}
	refusal(t, home, call(t, "forged.txt", "decline", forged), "declined", "DECLINED")

	_, asked := stateless(t, p.url), stateless(t, p.url).callTool("writeTextFile", map[string]any{"path": "cross.txt", "content": "x"}, nil, canAsk, nil)
	for _, state := range []any{"made-up", asked["requestState"]} {
		forged["requestState"] = state
		res := call(t, "forged.txt", "decline", forged)
		if res["isError"] != true {
			t.Errorf("a state that is not this call's was answered %v", res)
		}
	}
	for _, f := range []string{"decline.txt", "cancel.txt", "forged.txt", "cross.txt"} {
		if written(home, f) {
			t.Errorf("%s was written", f)
		}
	}
	t.Run("client that cannot ask", func(t *testing.T) { cannotAsk(t, home, stateful(t, p.url, cannot)) })
	p.stop()
	verifyWhole(t, home)
}

// TestApprovalTimeout lets both eras' humans be too late.
func TestApprovalTimeout(t *testing.T) {
	home := t.TempDir()
	p := serve(t, home, nil, "--policy", shortPolicy(t))
	late := map[string]any{"path": "late.txt", "content": "x"}

	old := stateful(t, p.url, canAsk)
	refusal(t, home, old.callTool("writeTextFile", late, nil, nil, func(map[string]any) map[string]any { return nil }), "timeout", "TIMEOUT")

	w := stateless(t, p.url)
	asked := w.callTool("writeTextFile", late, nil, canAsk, nil)
	waitFor(t, "the question to expire", func() bool {
		res := w.callTool("writeTextFile", map[string]any{"path": "other.txt", "content": "x"}, answered(asked, "accept"), canAsk, nil)
		// A mismatched retry does not burn the question, so this only watches.
		return failure(res).str("reason") == "expired" || expired(t, home)
	})
	refusal(t, home, w.callTool("writeTextFile", late, answered(asked, "accept"), canAsk, nil), "expired", "EXPIRED")
	if written(home, "late.txt") || written(home, "other.txt") {
		t.Error("a late acceptance ran")
	}
	p.stop()
	verifyWhole(t, home)
}

// expired reports whether the log says that a question expired.
func expired(t *testing.T, home string) bool {
	for _, r := range records(t, home) {
		if r.str("phase") == "close" && r.str("humanInTheLoop", "outcome") == "EXPIRED" {
			return true
		}
	}
	return false
}

// TestApprovalSDKClients does the same with an honest client library.
func TestApprovalSDKClients(t *testing.T) {
	home := t.TempDir()
	p := serve(t, home, nil)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		for _, action := range []string{"accept", "decline"} {
			s := sdkClient(t, p.url, version, func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: action}, nil
			})
			name := action + version + ".txt"
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "writeTextFile", Arguments: map[string]any{"path": name, "content": "hi"}})
			if err != nil {
				t.Fatal(err)
			}
			if res.IsError == (action == "accept") || written(home, name) != (action == "accept") {
				raw, _ := json.Marshal(res)
				t.Errorf("%s, %s: %s", version, action, raw)
			}
		}
	}
	p.stop()
	verifyWhole(t, home)
}
