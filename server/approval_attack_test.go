package server

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/keyring"
)

const gives = "return 'got ' + a"

// attacked is an installation with tools that ask, and its server.
func attacked(t *testing.T) (*installation, string) {
	t.Helper()
	i := install(t, map[string]map[string]any{"t_ask": askingTool(gives), "t_other": askingTool(gives), "t_plain": nil})
	_, url := start(t, Governed(i.Service), withUsers)
	return i, url
}

// The attack table where the client asks its human and comes back. Every
// attack leaves the rightful retry working, which runs once.
func TestAttacksInBand(t *testing.T) {
	i, url := attacked(t)
	alice, bob := agent{t: t, url: url, user: "alice/dev"}, agent{t: t, url: url, user: "bob/dev"}
	const args = `{"a":"1"}`
	runs := 0
	for _, tc := range []struct {
		name    string
		attack  func(state string) said
		verdict string
		human   string
	}{
		{"forged answer without state", func(string) said {
			return alice.call("t_ask", args, `,"inputResponses":{"approval":{"action":"accept","content":{}}}`)
		}, "input_required", ""},
		{"forged state", func(state string) said {
			b := []byte(state)
			b[len(b)/2] ^= 1
			return alice.call("t_ask", args, accept(string(b)))
		}, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"altered arguments", func(state string) said { return alice.call("t_ask", `{"a":"2"}`, accept(state)) }, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"other principal", func(state string) said { return bob.call("t_ask", args, accept(state)) }, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"same principal with other groups", func(state string) said {
			return agent{t: t, url: url, user: "alice/dev,sre"}.call("t_ask", args, accept(state))
		}, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"other tool", func(state string) said { return alice.call("t_other", args, accept(state)) }, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"tool that asks nobody", func(state string) said { return alice.call("t_plain", `{}`, accept(state)) }, "APPROVAL_DENIED/mismatch", "MISMATCH"},
		{"other principal declines", func(state string) said {
			return bob.call("t_ask", args, `,"requestState":"`+state+`","inputResponses":{"approval":{"action":"decline"}}`)
		}, "APPROVAL_DENIED/mismatch", "MISMATCH"},
	} {
		asked := alice.call("t_ask", args, "")
		if asked.verdict != "input_required" {
			t.Fatalf("%s: %+v", tc.name, asked)
		}
		got := tc.attack(asked.state)
		i.expect(tc.name, got, tc.verdict, tc.human, "t_ask", runs)
		if tc.human == "MISMATCH" && tc.name != "forged state" && i.closeOf(got.callID)["relatedCallId"] == nil {
			t.Errorf("%s: the record does not name the call that was asked about", tc.name)
		}
		rightful := alice.call("t_ask", args, accept(asked.state))
		runs++
		i.expect(tc.name+", rightful", rightful, "ran", "ACCEPTED", "t_ask", runs)
		i.expect(tc.name+", replayed", alice.call("t_ask", args, accept(asked.state)), "APPROVAL_DENIED/mismatch", "MISMATCH", "t_ask", runs)
	}
	if n := i.runs("t_other"); n != 0 {
		t.Errorf("the other tool ran %d times", n)
	}
}

// What changes between question and retry, in band and out of band.
func TestChangesBetweenAskAndRetry(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(i *installation)
		runs   bool
	}{
		{"nothing", func(*installation) {}, true},
		{"unrelated policy", func(i *installation) { i.rules(hide("t_other")); i.tell() }, true},
		{"policy that decides otherwise", func(i *installation) { i.setting("Really? {args}", "hitl", "promptTemplate"); i.tell() }, false},
		{"policy that shows it to nobody", func(i *installation) { i.rules(hide("t_ask")); i.tell() }, false},
		{"spec", func(i *installation) { i.write("t_ask", askingTool("return 'else'")); i.tell() }, false},
		{"restart", func(i *installation) { i.restart() }, true},
		{"rotated keys", func(i *installation) {
			keys, err := keyring.Open(filepath.Join(i.home, "keys"))
			if err == nil {
				_, err = keys.Rotate(nil)
			}
			if err != nil {
				i.t.Fatal(err)
			}
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i, url := attacked(t)
			inBand, mute := agent{t: t, url: url, user: "alice"}, agent{t: t, url: url, user: "alice", mute: true}
			asked := inBand.call("t_ask", `{"a":"in"}`, "")
			pending := mute.call("t_ask", `{"a":"out"}`, "")
			i.accepts(pending.id)
			tc.change(i)
			_, url = start(t, Governed(i.Service), withUsers)
			inBand.url, mute.url = url, url

			got := inBand.call("t_ask", `{"a":"in"}`, accept(asked.state))
			later := mute.call("t_ask", `{"a":"out"}`, "")
			if tc.runs {
				i.expect("in band", got, "ran", "ACCEPTED", "t_ask", 2)
				i.expect("out of band", later, "ran", "ACCEPTED", "t_ask", 2)
				return
			}
			switch {
			case got.verdict == "NOT_FOUND/unknown-tool" && later.verdict == got.verdict: // hidden now
			case got.verdict != "APPROVAL_DENIED/mismatch" || later.verdict != "APPROVAL_PENDING/pending" || later.id == pending.id:
				t.Errorf("in band %s, out of band %s (%s)", got.verdict, later.verdict, later.text)
			}
			if n := i.runs("t_ask"); n != 0 {
				t.Errorf("ran %d times", n)
			}
		})
	}
}

// The attack table where somebody else answers.
func TestAttacksOutOfBand(t *testing.T) {
	i, url := attacked(t)
	alice, bob := agent{t: t, url: url, user: "alice", mute: true}, agent{t: t, url: url, user: "bob", mute: true}
	runs := 0
	for n, tc := range []struct {
		name   string
		attack func(args string) said
		human  string
	}{
		{"altered arguments", func(string) said { return alice.call("t_ask", `{"a":"altered"}`, "") }, "PENDING"},
		{"other principal", func(args string) said { return bob.call("t_ask", args, "") }, "PENDING"},
		{"other tool", func(args string) said { return alice.call("t_other", args, "") }, "PENDING"},
		{"forged answer", func(args string) said {
			return alice.call("t_ask", `{"a":"forged"}`, `,"inputResponses":{"approval":{"action":"accept","content":{}}}`)
		}, "PENDING"},
	} {
		args := fmt.Sprintf(`{"a":"%d"}`, n)
		pending := alice.call("t_ask", args, "")
		i.expect(tc.name+", asked", pending, "APPROVAL_PENDING/pending", "PENDING", "t_ask", runs)
		i.accepts(pending.id)
		got := tc.attack(args)
		i.expect(tc.name, got, "APPROVAL_PENDING/pending", tc.human, "t_ask", runs)
		if got.id == pending.id {
			t.Errorf("%s: waits for the acceptance of another call", tc.name)
		}
		rightful := alice.call("t_ask", args, "")
		runs++
		i.expect(tc.name+", rightful", rightful, "ran", "ACCEPTED", "t_ask", runs)
		if r := i.closeOf(rightful.callID); r["relatedCallId"] != pending.callID || r.at("humanInTheLoop", "approver") != "bob" || r.at("humanInTheLoop", "channel") != "out_of_band" {
			t.Errorf("%s: the record of the run says %v %v", tc.name, r["relatedCallId"], r["humanInTheLoop"])
		}
		again := alice.call("t_ask", args, "")
		i.expect(tc.name+", again", again, "ran", "REPLAYED", "t_ask", runs)
		if i.closeOf(again.callID)["relatedCallId"] != rightful.callID {
			t.Errorf("%s: the replay does not name the call that ran", tc.name)
		}
	}
	if n := i.runs("t_other"); n != 0 {
		t.Errorf("the other tool ran %d times", n)
	}
	// Refused: the caller is not asked again for a while, nor is anything run.
	pending := alice.call("t_ask", `{"a":"no"}`, "")
	if err := i.answer(pending.id, person("bob"), approval.ActionDecline); err != nil {
		t.Fatal(err)
	}
	i.expect("declined", alice.call("t_ask", `{"a":"no"}`, ""), "APPROVAL_DENIED/declined", "DECLINED", "t_ask", runs)
	if err := i.answer(pending.id, person("bob"), approval.ActionAccept); err == nil {
		t.Error("an acceptance after the refusal")
	}
	i.expect("declined, then accepted", alice.call("t_ask", `{"a":"no"}`, ""), "APPROVAL_DENIED/declined", "DECLINED", "t_ask", runs)
}

// A question and an acceptance that are too old let nothing through.
func TestTooOld(t *testing.T) {
	i, url := attacked(t)
	i.setting(1, "hitl", "expirySeconds")
	i.setting(1, "hitl", "outOfBandExpirySeconds")
	i.tell()
	alice, mute := agent{t: t, url: url, user: "alice"}, agent{t: t, url: url, user: "alice", mute: true}
	asked := alice.call("t_ask", `{"a":"in"}`, "")
	pending := mute.call("t_ask", `{"a":"out"}`, "")
	i.accepts(pending.id)
	settles(t, "the questions do not expire", func() bool {
		all, err := i.Approvals.List(context.Background())
		for _, p := range all {
			if p.State != approval.StateExpired {
				return false
			}
		}
		return err == nil && len(all) == 2
	})
	i.expect("in band", alice.call("t_ask", `{"a":"in"}`, accept(asked.state)), "APPROVAL_DENIED/expired", "EXPIRED", "t_ask", 0)
	if later := mute.call("t_ask", `{"a":"out"}`, ""); later.verdict != "APPROVAL_PENDING/pending" || later.id == pending.id {
		t.Errorf("out of band: %+v", later)
	}
	if err := i.answer(pending.id, person("bob"), approval.ActionAccept); err == nil {
		t.Error("an expired question was accepted")
	}
}

// Of many answers one counts; of many retries one runs.
func TestRaces(t *testing.T) {
	i, url := attacked(t)
	t.Run("approvers", func(t *testing.T) {
		alice := agent{t: t, url: url, user: "alice", mute: true}
		pending := alice.call("t_ask", `{"a":"race"}`, "")
		var won atomic.Int64
		var wg sync.WaitGroup
		for n := range 12 {
			wg.Go(func() {
				action := approval.ActionAccept
				if n%2 == 1 {
					action = approval.ActionDecline
				}
				if i.answer(pending.id, person(fmt.Sprintf("p%d", n)), action) == nil {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		decided, refused := 0, 0
		for _, r := range i.records() {
			if r.at("detail", "approvalId") == pending.id {
				switch r["kind"] {
				case "approval.decide":
					decided++
				case "approval.refuse":
					refused++
				}
			}
		}
		if won.Load() != 1 || decided != 12 || refused != 11 {
			t.Errorf("%d answers counted; %d are on record, %d as refused", won.Load(), decided, refused)
		}
	})
	t.Run("retries in band", func(t *testing.T) {
		alice := agent{t: t, url: url, user: "alice"}
		before := i.runs("t_ask")
		state := alice.call("t_ask", `{"a":"many"}`, "").state
		ran := together(16, func(int) bool { return alice.call("t_ask", `{"a":"many"}`, accept(state)).verdict == "ran" })
		if n := i.runs("t_ask") - before; ran != 1 || n != 1 {
			t.Errorf("%d were told that it ran, it ran %d times", ran, n)
		}
	})
	t.Run("two replicas", func(t *testing.T) {
		second := i.another()
		defer second.Close(context.Background())
		_, other := start(t, Governed(second), withUsers)
		urls := []string{url, other}
		before := i.runs("t_ask")
		ids := sync.Map{}
		together(8, func(n int) bool { // one question, wherever it comes from
			ids.Store(agent{t: t, url: urls[n%2], user: "alice", mute: true}.call("t_ask", `{"a":"two"}`, "").id, true)
			return true
		})
		distinct := 0
		id := ""
		ids.Range(func(k, _ any) bool { distinct++; id = k.(string); return true })
		if distinct != 1 {
			t.Fatalf("%d questions about one call", distinct)
		}
		i.accepts(id)
		verdicts := sync.Map{}
		together(12, func(n int) bool {
			got := agent{t: t, url: urls[n%2], user: "alice", mute: true}.call("t_ask", `{"a":"two"}`, "")
			verdicts.Store(got.verdict, true)
			return true
		})
		if n := i.runs("t_ask") - before; n != 1 {
			t.Errorf("ran %d times", n)
		}
		verdicts.Range(func(k, _ any) bool {
			if k != "ran" && k != "APPROVAL_PENDING/running" {
				t.Errorf("a retry was answered %s", k)
			}
			return true
		})
		// In band: asked on one, retried on the other.
		state := agent{t: t, url: url, user: "alice"}.call("t_ask", `{"a":"in"}`, "").state
		got := agent{t: t, url: other, user: "alice"}.call("t_ask", `{"a":"in"}`, accept(state))
		i.expect("in band on the other", got, "ran", "ACCEPTED", "t_ask", before+2)
		i.expect("in band, then on the first", agent{t: t, url: url, user: "alice"}.call("t_ask", `{"a":"in"}`, accept(state)), "APPROVAL_DENIED/mismatch", "MISMATCH", "t_ask", before+2)
	})
}

func together(n int, f func(i int) bool) (yes int64) {
	var count atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if f(i) {
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return count.Load()
}

// Who may accept is policy: groups, and four eyes, in band and out of band,
// with callers that are authenticated.
func TestWhoAccepts(t *testing.T) {
	i, url := attacked(t)
	i.setting(map[string]any{"groups": []string{"sre"}, "fourEyes": false}, "hitl", "approvers")
	i.tell()
	member, other := agent{t: t, url: url, user: "alice/sre"}, agent{t: t, url: url, user: "alice/dev"}
	asked := member.call("t_ask", `{"a":"1"}`, "")
	i.expect("a member is asked in band", asked, "input_required", "", "t_ask", 0)
	i.expect("a member accepts", member.call("t_ask", `{"a":"1"}`, accept(asked.state)), "ran", "ACCEPTED", "t_ask", 1)
	pending := other.call("t_ask", `{"a":"2"}`, "")
	i.expect("nobody asks who may not accept", pending, "APPROVAL_PENDING/pending", "PENDING", "t_ask", 1)
	if err := i.answer(pending.id, person("bob", "dev"), approval.ActionAccept); err == nil {
		t.Error("somebody of no approver group accepted")
	}
	if err := i.answer(pending.id, person("carol", "sre"), approval.ActionAccept); err != nil {
		t.Fatal(err)
	}
	i.expect("accepted by a member", other.call("t_ask", `{"a":"2"}`, ""), "ran", "ACCEPTED", "t_ask", 2)

	i.setting(map[string]any{"groups": []string{"sre"}, "fourEyes": true}, "hitl", "approvers")
	i.tell()
	pending = member.call("t_ask", `{"a":"3"}`, "")
	i.expect("four eyes are out of band", pending, "APPROVAL_PENDING/pending", "PENDING", "t_ask", 2)
	if err := i.answer(pending.id, person("alice", "sre"), approval.ActionAccept); err == nil {
		t.Error("the caller accepted as the second person")
	}
	if err := i.answer(pending.id, person("carol", "sre"), approval.ActionAccept); err != nil {
		t.Fatal(err)
	}
	ran := member.call("t_ask", `{"a":"3"}`, "")
	i.expect("a second person", ran, "ran", "ACCEPTED", "t_ask", 3)
	if r := i.closeOf(ran.callID); r.at("humanInTheLoop", "fourEyes") != true || r.at("humanInTheLoop", "approver") != "carol" || r.at("principal", "subject") != "alice" {
		t.Errorf("the record says %v of %v", r["humanInTheLoop"], r["principal"])
	}

	// Without another channel, whoever may not accept cannot be served.
	i.setting([]string{"input_required", "elicitation"}, "hitl", "channels")
	i.tell()
	i.expect("no channel is left", member.call("t_ask", `{"a":"4"}`, ""), "APPROVAL_DENIED/unsupported", "UNSUPPORTED", "t_ask", 3)
	i.setting(map[string]any{"groups": []string{}, "fourEyes": false}, "hitl", "approvers")
	i.tell()
	i.expect("a client that cannot ask", agent{t: t, url: url, user: "alice", mute: true}.call("t_ask", `{"a":"5"}`, ""), "APPROVAL_DENIED/unsupported", "UNSUPPORTED", "t_ask", 3)
}

// An approver changes the arguments: the caller's retry runs with them.
func TestModified(t *testing.T) {
	i, url := attacked(t)
	alice := agent{t: t, url: url, user: "alice", mute: true}
	pending := alice.call("t_ask", `{"a":"rm -rf"}`, "")
	for _, bad := range []string{`{"b":1}`, `[]`, `{`, `{"a":"rm -rf"}`} {
		if _, err := i.Modify(context.Background(), person("bob"), pending.id, json.RawMessage(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	p, err := i.Modify(context.Background(), person("bob"), pending.id, json.RawMessage(`{"a":"ls"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := alice.call("t_ask", `{"a":"rm -rf"}`, "")
	i.expect("modified", got, "ran", "MODIFIED", "t_ask", 1)
	r := i.closeOf(got.callID)
	if r.at("params", "a") != "ls" || r["paramsDigest"] != p.Amendment.ParamsDigest || r.at("humanInTheLoop", "originalParamsDigest") != p.Binding.ParamsDigest ||
		r.at("humanInTheLoop", "promptDigest") != p.Amendment.Question.PromptDigest {
		t.Errorf("the record says %v, %v, %v", r["params"], r["paramsDigest"], r["humanInTheLoop"])
	}
	found := false
	for _, e := range i.records() {
		if e["kind"] == "approval.decide" && e.at("detail", "action") == "modify" {
			found = e.at("detail", "paramsDigest") == p.Amendment.ParamsDigest && e.at("detail", "originalParamsDigest") == p.Binding.ParamsDigest &&
				e.at("detail", "promptDigest") == p.Amendment.Question.PromptDigest
		}
	}
	if !found {
		t.Error("no event says who changed what")
	}
	i.expect("modified, again", alice.call("t_ask", `{"a":"rm -rf"}`, ""), "ran", "REPLAYED", "t_ask", 1)
}

// Older clients are asked while their call is open: one round, and what comes
// of a change in that time.
func TestAttacksElicitation(t *testing.T) {
	for _, tc := range []struct {
		name   string
		during func(i *installation, id string)
		action string
		want   string
		human  string
		runs   int
	}{
		{"accepted", nil, "accept", "ran", "ACCEPTED", 1},
		{"declined", nil, "decline", "APPROVAL_DENIED/declined", "DECLINED", 0},
		{"dismissed", nil, "cancel", "APPROVAL_DENIED/cancelled", "CANCELLED", 0},
		{"unrelated policy", func(i *installation, _ string) { i.rules(hide("t_other")); i.tell() }, "accept", "ran", "ACCEPTED", 1},
		{"policy that decides otherwise", func(i *installation, _ string) { i.setting("Really? {args}", "hitl", "promptTemplate"); i.tell() }, "accept", "APPROVAL_DENIED/mismatch", "MISMATCH", 0},
		{"refused elsewhere", func(i *installation, id string) {
			if err := i.answer(id, person("bob"), approval.ActionDecline); err != nil {
				i.t.Error(err)
			}
		}, "accept", "APPROVAL_DENIED/declined", "DECLINED", 0},
		{"accepted elsewhere too", func(i *installation, id string) { i.accepts(id) }, "accept", "ran", "ACCEPTED", 1},
		{"accepted elsewhere and declined here", func(i *installation, id string) { i.accepts(id) }, "decline", "APPROVAL_DENIED/declined", "DECLINED", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := install(t, map[string]map[string]any{"t_ask": askingTool(gives), "t_other": nil})
			_, url := start(t, Governed(i.Service))
			rounds := 0
			cs := connect(t, url, "2025-11-25", "agent", func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				rounds++
				all, err := i.Approvals.List(context.Background())
				if err != nil || len(all) != 1 {
					t.Errorf("%v %v", all, err)
				} else if tc.during != nil {
					tc.during(i, all[0].ID)
				}
				return &mcp.ElicitResult{Action: tc.action}, nil
			})
			res := callTool(t, cs, "t_ask", map[string]any{"a": "1"})
			raw, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			i.expect(tc.name, understood(m, string(raw)), tc.want, tc.human, "t_ask", tc.runs)
			if rounds != 1 {
				t.Errorf("asked %d times", rounds)
			}
		})
	}
}

// What happens to a question is told in the process where it happens and in
// another one of the same home.
func TestEventsTellOfAll(t *testing.T) {
	i, url := attacked(t)
	second := i.another()
	defer second.Close(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	here, there := i.ApprovalEvents(ctx), second.ApprovalEvents(ctx)
	alice := agent{t: t, url: url, user: "alice", mute: true}
	id := alice.call("t_ask", `{"a":"1"}`, "").id
	want := func(kind approval.EventKind, state approval.State) {
		t.Helper()
		for name, c := range map[string]<-chan approval.Event{"this process": here, "another one": there} {
			select {
			case e := <-c:
				if e.Kind != kind || e.Pending.ID != id || e.Pending.State != state {
					t.Errorf("%s: %s, %s; want %s, %s", name, e.Kind, e.Pending.State, kind, state)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: no event %s", name, kind)
			}
		}
	}
	want(approval.EventAsked, approval.StatePending)
	i.accepts(id)
	want(approval.EventSettled, approval.StateAccepted)
	if got := alice.call("t_ask", `{"a":"1"}`, ""); got.verdict != "ran" {
		t.Fatal(got)
	}
	want(approval.EventUsed, approval.StateConsumed)
	want(approval.EventEnded, approval.StateConsumed)
	cancel()
	for _, c := range []<-chan approval.Event{here, there} {
		for range c { // closed when ctx ends
		}
	}
}
