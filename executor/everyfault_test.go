package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/approval/approvaltest"
	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const keyedTool = `{"name": "t", "codeType": "Javascript", "code": "return k;", "staticVariables": [{"k": "${A_KEY}"}],
	"params": [{"name": "a", "type": "STRING", "required": false}]}`

// scene is a few requests of one caller, made one after the other.
type scene struct {
	g    *rig
	j    *injector
	gate *approval.Gate // without faults: what a human does
	said []Result
	told func(Result) // nil, or gets every answer at once
	ran  []string     // callIds whose code ran
}

// call makes one request under a context of its own.
func (s *scene) call(c Call) Result {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.j.mu.Lock()
	s.j.leave = cancel
	s.j.mu.Unlock()
	c.Principal, c.Origin = decision.Principal{Subject: "local", Method: "none"}, decision.OriginMCPHTTP
	if c.Name == "" {
		c.Name = "t"
	}
	if c.Asker != nil {
		c.Asker = faultyAsker{c.Asker, s.j}
	}
	res := s.g.Call(ctx, c)
	s.said = append(s.said, res)
	if s.told != nil {
		s.told(res)
	}
	return res
}

// scenes are ways through the pipeline that together reach every place.
var scenes = map[string]func(*scene){
	"plain": func(s *scene) { s.call(Call{}) },
	"tool fails": func(s *scene) {
		s.g.run = func(c worker.Call, _ worker.Broker) (worker.Reply, error) {
			s.ran = append(s.ran, c.CallID)
			return worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Message: "no"}}, nil
		}
		s.call(Call{})
	},
	"bad arguments": func(s *scene) { s.call(Call{Args: json.RawMessage(`{"b":1}`)}) },
	"unknown":       func(s *scene) { s.call(Call{Name: "nosuch"}) },
	"hidden":        func(s *scene) { s.g.visible = false; s.call(Call{}) },
	"not exposed":   func(s *scene) { s.g.hidden = "left out"; s.call(Call{}) },
	"denied": func(s *scene) {
		s.g.decide = func() (*decision.Decision, error) { d := allowing("DISABLED"); denying("no")(d); return d, nil }
		s.call(Call{})
	},
	"limited": func(s *scene) {
		s.g.decide = func() (*decision.Decision, error) {
			d := granted("DISABLED")
			d.Limits.RatePerMinute = 1
			return d, nil
		}
		s.call(Call{})
		s.call(Call{})
	},
	"in band": func(s *scene) {
		s.ask()
		s.call(Call{Asker: asker{channel: "elicitation", action: "accept"}})
	},
	"in band, declined": func(s *scene) {
		s.ask()
		s.call(Call{Asker: asker{channel: "elicitation", action: "decline"}})
	},
	"deferred": func(s *scene) {
		s.ask()
		in := s.call(Call{Asker: asker{channel: "input_required", action: approval.ActionDeferred}}).InputRequired
		if in != nil {
			s.call(Call{State: in.State})
			s.call(Call{State: in.State, Answer: "accept"})
			s.call(Call{State: in.State, Answer: "accept"}) // once more is once too often
		}
	},
	"deferred, declined": func(s *scene) {
		s.ask()
		if in := s.call(Call{Asker: asker{channel: "input_required", action: approval.ActionDeferred}}).InputRequired; in != nil {
			s.call(Call{State: in.State, Answer: "decline"})
		}
	},
	"out of band": func(s *scene) {
		s.ask()
		id := s.call(Call{}).ApprovalID
		s.call(Call{})
		if id != "" {
			_, _ = s.gate.Settle(context.Background(), id, "accept", approval.Approver{Subject: "bob", Method: "terminal"})
			s.call(Call{}) // runs
			s.call(Call{}) // is told again
		}
	},
	"out of band, amended": func(s *scene) {
		s.ask()
		res := s.call(Call{})
		if res.ApprovalID == "" {
			return
		}
		ctx := context.Background()
		p, err := s.gate.Get(ctx, res.ApprovalID)
		if err != nil {
			return
		}
		amended, err := s.g.Amend(ctx, p, json.RawMessage(`{"a":"other"}`))
		if err != nil {
			return
		}
		_, _ = s.gate.Amend(ctx, p.ID, approval.Approver{Subject: "bob", Method: "terminal"}, amended)
		s.call(Call{})
		s.call(Call{})
	},
}

// granted is allowing, with the key that the tool names.
func granted(mode string) *decision.Decision {
	d := allowing(mode)
	d.EffectivePolicy.Env = []string{"A_KEY"}
	return d
}

func (s *scene) ask() {
	s.g.decide = func() (*decision.Decision, error) { return granted("REQUIRED"), nil }
}

// stage builds an engine of which every part can fail. log is nil for one in
// memory.
func stage(t *testing.T, j *injector, store approval.Store, log audit.Log) *scene {
	t.Helper()
	g := newRig(t, keyedTool)
	s := &scene{g: g, j: j, gate: approval.NewGate(store, approvaltest.Keys{"k"}, nil)}
	g.decide = func() (*decision.Decision, error) { return granted("DISABLED"), nil }
	g.run = func(c worker.Call, _ worker.Broker) (worker.Reply, error) {
		s.ran = append(s.ran, c.CallID)
		return worker.Reply{Result: json.RawMessage(`"done"`)}, nil
	}
	if log == nil {
		log = logOf{g}
	}
	keys := faultyKeys{approvaltest.Keys{"k"}, j}
	e, err := New(Components{
		Catalog: faultyCatalog{g, j}, Policy: faultyPolicy{g, j}, Observer: faultyObserver{j}, Audit: faultyLog{log, j},
		Shadow: answers(denying("no")), ShadowPatience: time.Minute, Runtime: faultyRuntime{runtimeOf{g}, j}, Keys: keys,
		Approvals: approval.NewGate(faultyStore{store, j}, keys, nil),
		Secrets:   secret.New(filepath.Join(t.TempDir(), "none"), j.env),
		Now:       j.now, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Engine = e
	return s
}

// TestEveryFaultIsRecorded makes every part fail in every way, every time that
// it is asked, and looks for the one close record of every call.
func TestEveryFaultIsRecorded(t *testing.T) {
	places, runs := map[string]bool{}, 0
	hows := []string{failPanic, failError, failLate, failTimeout, failGone}
	if testing.Short() {
		hows = hows[:2]
	}
	for name, play := range scenes {
		dry := &injector{}
		s := stage(t, dry, &approvaltest.Memory{}, nil)
		play(s)
		s.check(t, name+" without a fault")
		for _, place := range dry.places() {
			places[part(place)] = true
			for _, how := range hows {
				j := &injector{at: place, how: how}
				s := stage(t, j, &approvaltest.Memory{}, nil)
				play(s)
				what := fmt.Sprintf("%s, %s at %s", name, how, place)
				s.check(t, what)
				if !j.reached() {
					t.Errorf("%s: the place was not reached", what)
				}
				runs++
			}
		}
	}
	for _, p := range []string{"Catalog.Lookup", "Catalog.Exposed", "Policy.Visible", "Policy.Resolve", "Policy.Artefact", "Env", "Keys.Current", "Keys.Lookup",
		"Now", "Observer.Decided", "Observer.Shadowed", "Asker.Channel", "Asker.Ask", "Store.Create", "Store.Get", "Store.List", "Store.Transition", "Store.Exclusively",
		"Audit.Object", "Audit.Ask", "Audit.Open", "Audit.Close", "Runtime.Isolation", "Runtime.Run"} {
		if !places[p] {
			t.Errorf("no scene reaches %s", p)
		}
	}
	t.Logf("%d faults at %d kinds of places", runs, len(places))
}

// check holds the answers of a scene against its records.
func (s *scene) check(t *testing.T, what string) {
	t.Helper()
	closes, opens := map[string][]audit.Call{}, map[string]int{}
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	for _, c := range s.g.log {
		switch c.Phase {
		case audit.PhaseClose:
			closes[c.CallID] = append(closes[c.CallID], c)
		case audit.PhaseOpen:
			opens[c.CallID]++
		}
	}
	answered := map[string]bool{}
	for i, res := range s.said {
		if res.CallID == "" {
			t.Errorf("%s: answer %d has no call", what, i+1)
		}
		if res.InputRequired != nil {
			if res.Err != nil || res.Outcome != "" || res.Value != nil {
				t.Errorf("%s: a question that says how it ended: %+v", what, res)
			}
			continue
		}
		if answered[res.CallID] {
			t.Errorf("%s: call %s was answered twice", what, res.CallID)
		}
		answered[res.CallID] = true
		s.checkAnswer(t, what, res, closes[res.CallID])
	}
	for id, c := range closes {
		if len(c) > 1 {
			t.Errorf("%s: call %s has %d close records", what, id, len(c))
		}
		if !answered[id] {
			t.Errorf("%s: call %s was closed and not answered", what, id)
		}
	}
	seen := []string{}
	for _, id := range s.ran {
		if opens[id] != 1 || slices.Contains(seen, id) {
			t.Errorf("%s: code of call %s ran with %d open records", what, id, opens[id])
		}
		seen = append(seen, id)
	}
	for id := range opens {
		if !answered[id] {
			t.Errorf("%s: call %s was opened and not answered", what, id)
		}
	}
}

// checkAnswer compares one answer with its record.
func (s *scene) checkAnswer(t *testing.T, what string, res Result, closes []audit.Call) {
	t.Helper()
	if res.Err != nil && (res.Outcome != res.Err.Code.Outcome() || res.Value != nil && res.Err.Reason != "tool-is-error") {
		t.Errorf("%s: answered %s with %v and value %s", what, res.Outcome, res.Err, res.Value)
	}
	if res.Err != nil && strings.Contains(res.Err.Error(), "injected detail") {
		t.Errorf("%s: an inner failure left: %v", what, res.Err)
	}
	if res.Err == nil && res.Outcome != fault.OK {
		t.Errorf("%s: answered %s without an error", what, res.Outcome)
	}
	unrecorded := part(s.j.at) == "Audit.Close" && s.j.how != failGone && res.Err != nil && res.Err.Code == fault.AuditUnavailable
	if len(closes) == 0 {
		if !unrecorded {
			t.Errorf("%s: answered %v without a close record", what, res.Err)
		}
		return
	}
	if unrecorded {
		return // written, and then said to have failed: the answer is withheld
	}
	c := closes[0]
	if c.Outcome == nil || *c.Outcome != res.Outcome || (c.Error == nil) != (res.Err == nil) || c.Error != nil && c.Error.Code != res.Err.Code {
		t.Errorf("%s: answered %s %v, recorded %v %+v", what, res.Outcome, res.Err, *c.Outcome, c.Error)
	}
	if s.j.fired() {
		s.checkCode(t, what, res)
	}
}

// wantCodes are the codes that a failure of a part may end a call with, where
// it ends it.
var wantCodes = map[string][]fault.Code{
	"Catalog.Lookup": {fault.Internal}, "Keys.Current": {fault.Internal, fault.ApprovalDenied}, "Keys.Lookup": {fault.ApprovalDenied},
	"Catalog.Exposed": {fault.NotFound}, "Env": {fault.NotActive},
	"Policy.Visible": {fault.PolicyUnavailable}, "Policy.Resolve": {fault.PolicyUnavailable, fault.NotFound},
	"Audit.Ask": {fault.AuditUnavailable}, "Audit.Open": {fault.AuditUnavailable}, "Audit.Object": {fault.AuditUnavailable}, "Audit.Close": {fault.AuditUnavailable},
	"Store.Create": {fault.ApprovalDenied}, "Store.Get": {fault.ApprovalDenied}, "Store.List": {fault.ApprovalDenied}, "Store.Transition": {fault.ApprovalDenied},
	"Asker.Ask": {fault.ApprovalDenied}, "Runtime.Run": {fault.RuntimeError},
}

// checkCode looks at the codes that the fault brings in: beside those that the
// scene has without it.
func (s *scene) checkCode(t *testing.T, what string, res Result) {
	t.Helper()
	if res.Err == nil {
		return
	}
	var want []fault.Code
	switch s.j.how {
	case failPanic:
		want = []fault.Code{fault.Internal, fault.AuditUnavailable}
		if part(s.j.at) == "Audit.Close" {
			want = want[1:]
		}
	case failTimeout, failGone:
		want = append([]fault.Code{fault.Interrupted}, wantCodes[part(s.j.at)]...)
	default:
		want = wantCodes[part(s.j.at)]
	}
	// What scenes end with by themselves, a question that the fault left
	// unanswered included.
	own := []fault.Code{fault.JSError, fault.InvalidArguments, fault.NotFound, fault.PolicyDenied, fault.RateLimited, fault.ApprovalDenied, fault.ApprovalPending}
	if !slices.Contains(want, res.Err.Code) && !slices.Contains(own, res.Err.Code) {
		t.Errorf("%s: ended %v, want one of %v", what, res.Err, want)
	}
}
