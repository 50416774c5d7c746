package service

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/impact"
)

// idle stands for the code of tools: what is replayed is what was decided.
type idle struct{}

func (idle) Run(context.Context, worker.Call, worker.Broker) (worker.Reply, error) {
	return worker.Reply{Result: json.RawMessage(`null`)}, nil
}
func (idle) Isolation() worker.Isolation { return worker.Isolation{Mode: "in-process"} }
func (idle) Close() error                { return nil }

// dayRules read what a call has beside its tool: who, when and with what.
const dayRules = `package toolwarrant.access

import rego.v2

hour := time.clock([time.parse_rfc3339_ns(input.now), "UTC"])[0]

reasons contains {"id": "site-night", "message": "files rest at night", "path": ""} if {
	input.tool.category == "FILE"
	hour < 6
}

reasons contains {"id": "site-word", "message": "not this word", "path": "/text"} if {
	contains(input.call.args.text, "forbidden")
}

reasons contains {"id": "site-guests", "message": "guests compute and no more", "path": ""} if {
	"guests" in input.principal.groups
	input.tool.category in {"WEB", "FILE"}
}
`

const dayDemands = `package toolwarrant.hitl

import rego.v2

demands contains {"id": "site-lunch", "fourEyes": false} if {
	input.tool.name == "evalExpression"
	time.clock([time.parse_rfc3339_ns(input.now), "UTC"])[0] == 12
	count(input.call.args.expression) > 3
}
`

// once replaces the one place of old in s.
func once(t *testing.T, s, old, new string) string {
	t.Helper()
	if strings.Count(s, old) != 1 {
		t.Fatalf("%q is there %d times", old, strings.Count(s, old))
	}
	return strings.Replace(s, old, new, 1)
}

// TestReplayOfADay records a day of calls, by people of several groups, under
// rules that read caller, time and arguments, of a policy that changes at
// noon and masks an argument. Each decision comes out again from the log
// alone.
func TestReplayOfADay(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	p, home := newPublisher(t), t.TempDir()
	check(t, os.MkdirAll(filepath.Join(p.dir, "rego", "site"), 0o700))
	p.write("rego/site/access.rego", dayRules)
	p.write("rego/site/hitl.rego", dayDemands)
	p.data = once(t, p.data, `"maskParams": []`, `"maskParams": ["secret"]`)
	p.write("rego/data.json", p.data)
	cfg := settings(t, map[string]any{"policy.path": p.dir, "runtime.isolation": "in-process", "audit.fsync": "interval"})
	s := opened(t, home, cfg)
	s.Engine.Runtime = idle{}
	now := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)
	s.Engine.Now = func() time.Time { return now }

	args := map[string][]string{
		"base64":          {`{"text":"plain"}`, `{"text":"a forbidden text"}`, `{"text":"x","mode":"decode"}`, `{"wrong":1}`},
		"evalExpression":  {`{"expression":"1+1"}`, `{"expression":"2*(3+4)"}`},
		"hmac":            {`{"text":"a","secret":"hunter22"}`, `{"text":"forbidden","secret":"hunter22"}`},
		"readTextFile":    {`{"path":"a.txt"}`},
		"writeTextFile":   {`{"path":"a.txt","content":"x"}`, `{"path":"b.sh","content":"\u0000\ud83d\ude00"}`},
		"getWeather":      {`{"city":"Bonn"}`, `{"latitude":50.73,"longitude":7.1}`},
		"timezoneConvert": {`{}`, `{"n":1e400}`},
		"uuid":            {`{}`},
		"noSuchTool":      {`{"a":1}`},
	}
	tools := slices.Sorted(maps.Keys(args))
	people := []decision.Principal{
		{Subject: "ann", Method: "bearer", ClientID: "desk", Groups: []string{"staff"}, Scopes: []string{}},
		{Subject: "bob", Method: "bearer", ClientID: "desk", Groups: []string{"guests"}, Scopes: []string{"tools"}},
		{Subject: "cy", Method: "bearer", ClientID: "bot", Groups: []string{"night", "staff"}, Scopes: []string{}, Untrusted: true},
	}
	const calls = 24 * 60
	changed := false
	for i := range calls {
		now = now.Add(time.Minute)
		if !changed && now.Hour() >= 12 {
			changed = true
			p.write("rego/data.json", once(t, p.data, `"threshold": "L3"`, `"threshold": "L0"`))
			check(t, s.Reload(t.Context()))
		}
		name := tools[i%len(tools)]
		forms := args[name]
		s.Engine.Call(t.Context(), executor.Call{
			Principal: people[(i/len(tools))%len(people)], Origin: decision.OriginMCPHTTP, Name: name,
			Args: json.RawMessage(forms[(i/len(tools)/len(people))%len(forms)]),
		})
	}
	closes, _, objects := lines(t, s)
	if len(closes) != calls || objects["policy"] != 2 {
		t.Fatalf("%d close records of %d calls, %d policies", len(closes), calls, objects["policy"])
	}
	decided, said := 0, map[string]int{}
	for _, c := range closes {
		if c.Decision != nil {
			decided++
		}
		for _, r := range c.Reasons {
			said[r.ID]++
		}
		if c.HITL != nil {
			said[c.HITL.Mode]++
		}
	}
	for _, rule := range []string{"site-night", "site-word", "site-guests", "REQUIRED"} {
		if said[rule] == 0 {
			t.Errorf("%s said nothing: %v", rule, said)
		}
	}
	check(t, s.Close(context.Background()))

	again := *cfg
	again.Policy.Path = impact.Recorded
	report, err := ReplayLog(t.Context(), home, &again, []string{filepath.Join(home, "audit", "audit.ndjson")}, false)
	check(t, err)
	if got := report.Summary; got.Calls != calls || got.Same != decided || got.Undecided != calls-decided {
		t.Errorf("%+v of %d calls, %d of them decided\n%s", got, calls, decided, fmt.Sprint(report.Differences))
	}
	t.Logf("%d calls, %d decided, all the same; %v", calls, decided, said)
}
