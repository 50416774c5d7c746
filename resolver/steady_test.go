package resolver

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func TestSteadyDocuments(t *testing.T) {
	s := newResolver(t, Options{}).active.Load().program.steady
	for name, want := range map[string]bool{
		"data.toolwarrant.risk.level": true, "data.toolwarrant.risk.signals": true, "data.toolwarrant.effective.policy": true,
		"data.toolwarrant.effective.env": true, "data.toolwarrant.effective.violations": true, "data.toolwarrant.hitl.document_requirement": true,
		"data.toolwarrant.log.mask": true, "data.toolwarrant.log.record": true, "data.toolwarrant.log.how": true, "data.toolwarrant.limits.isolation": true,
		"data.toolwarrant.decision": false, "data.toolwarrant.access.reasons": false, "data.toolwarrant.access.callable": false,
		"data.toolwarrant.hitl.requirement": false, // what the installation keeps
		"data.toolwarrant.limits.rates":     false, // who asks
		"data.toolwarrant.access.applies":   false, // a function
		"data.toolwarrant.risk":             false,
		"data.toolwarrant.gone":             false,
		"data.toolwarrant.risk.level.more":  false,
		`data.toolwarrant.settings.access`:  false,
		`input.toolwarrant.risk.level`:      false,
	} {
		if got := s.number(ast.MustParseRef(name)) >= 0; got != want {
			t.Errorf("%s: steady %v, want %v", name, got, want)
		}
	}
	function := ast.Ref{ast.NewTerm(ast.MustParseRef("data.f")), ast.StringTerm("toolwarrant"), ast.StringTerm("risk"), ast.StringTerm("level")}
	if s.number(function) >= 0 {
		t.Error("the arguments of a function were taken for a document")
	}
	if s.number(nil) >= 0 {
		t.Error("nothing is a document")
	}
}

// A rule that looks at the caller, the call or the time in any way is asked
// again for each call, and so is whatever is made of it.
func TestRulesOfTheCallAreAskedEachTime(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	for name, rule := range map[string]string{
		"principal":      `signals contains _plain("destructive") if input.principal.subject == "ann"`,
		"any field":      `signals contains _plain("destructive") if { some f in ["principal", "tool"]; input[f].subject == "ann" }`,
		"whole input":    `signals contains _plain("destructive") if { x := input; x.principal.subject == "ann" }`,
		"argument":       `signals contains _plain("destructive") if input.call.args.who == "ann"`,
		"through a rule": "signals contains _plain(\"destructive\") if _ann\n\n_ann if input.principal.subject == \"ann\"",
		"by a function":  "signals contains _plain(\"destructive\") if _is(\"ann\")\n\n_is(x) if input.principal.subject == x",
		"in a set":       `signals contains _plain("destructive") if count({1 | input.principal.subject == "ann"}) > 0`,
		"by the group":   `signals contains _plain("destructive") if object.get(input, ["principal", "subject"], "") == "ann"`,
		"negated":        "signals contains _plain(\"destructive\") if not _other\n\n_other if input.principal.subject != \"ann\"",
		"else":           "signals contains _plain(\"destructive\") if _who == 2\n\n_who := 1 if input.tool.name == \"gone\"\n\nelse := 2 if input.principal.subject == \"ann\"",
		"dotted head": `package toolwarrant

import rego.v2

risk.signals contains {"id": "own", "level": "L5", "message": "m"} if input.principal.subject == "ann"`,
		"dotted helper": `package toolwarrant

import rego.v2

risk._ann if input.principal.subject == "ann"

risk.signals contains {"id": "own", "level": "L5", "message": "m"} if risk._ann`,
		"a whole package": `package toolwarrant

import rego.v2

own.who := input.principal.subject

risk.signals contains {"id": "own", "level": "L5", "message": "m"} if { x := data.toolwarrant.own; x.who == "ann" }`,
		"walk": `package toolwarrant

import rego.v2

own.who := input.principal.subject

risk.signals contains {"id": "own", "level": "L5", "message": "m"} if { walk(data.toolwarrant.own, [["who"], "ann"]) }`,
		"a field that is imported":  "package toolwarrant.risk\n\nimport rego.v2\n\nimport input.principal as who\n\nsignals contains _plain(\"destructive\") if who.subject == \"ann\"",
		"an input that is imported": "package toolwarrant.risk\n\nimport rego.v2\n\nimport input as all\n\nsignals contains _plain(\"destructive\") if all.principal.subject == \"ann\"",
		"in the head":               "signals contains {\"id\": \"own\", \"level\": {\"ann\": \"L5\"}[input.principal.subject], \"message\": \"m\"}",
		"a variable in a head of another package": `package toolwarrant

import rego.v2

own[name].who := input.principal.subject if name := "x"

risk.signals contains {"id": "own", "level": "L5", "message": "m"} if own.x.who == "ann"`,
		"deep head":       "signals contains _plain(\"destructive\") if _deep.a.b == 1\n\n_deep.a.b := 1 if input.principal.subject == \"ann\"",
		"object":          "signals contains _plain(\"destructive\") if _who.ann\n\n_who[name] := true if name := input.principal.subject",
		"object, by name": "signals contains _plain(\"destructive\") if { some name, _ in _who; name == \"ann\" }\n\n_who[name] := true if name := input.principal.subject",
		"variable path":   "signals contains _plain(\"destructive\") if { some k in [\"_hidden\"]; data.toolwarrant.risk[k] == \"ann\" }\n\n_hidden := input.principal.subject",
		"default":         "default _sure := false\n\n_sure if input.principal.subject == \"ann\"\n\nsignals contains _plain(\"destructive\") if _sure",
	} {
		text := "package toolwarrant.risk\n\nimport rego.v2\n\n" + rule + "\n"
		if strings.HasPrefix(rule, "package ") {
			text = rule + "\n"
		}
		t.Run(name, func(t *testing.T) {
			r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/own.rego": text})})
			req := request(doc(t, map[string]any{"params": []map[string]any{{"name": "who", "type": "STRING", "required": false}}}))
			for _, who := range []string{"bob", "ann", "bob", "ann", "ann", "bob"} {
				req.Principal.Subject = who
				req.Args = json.RawMessage(fmt.Sprintf(`{"who":%q}`, who))
				d, err := r.Resolve(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"ann": "L5", "bob": "L0"}[who]
				if d.RiskLevel != want || (d.HumanInTheLoop.Mode == "REQUIRED") != (who == "ann") {
					t.Errorf("%s: level %s, mode %s, want %s", who, d.RiskLevel, d.HumanInTheLoop.Mode, want)
				}
			}
		})
	}
}

// What another package adds to the demands counts for the call that it is about.
func TestDemandsOfAnotherPackage(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/site.rego": `package toolwarrant

import rego.v2

hitl.demands contains {"id": "site-out", "fourEyes": false} if input.call.args.who == "ann"
`})})
	req := request(doc(t, map[string]any{"params": []map[string]any{{"name": "who", "type": "STRING", "required": false}}}))
	for _, args := range []string{`{}`, `{"who":"ann"}`, `{"who":"bob"}`, `{"who":"ann"}`} {
		req.Args = json.RawMessage(args)
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if asks, want := d.HumanInTheLoop.Mode == "REQUIRED", strings.Contains(args, "ann"); asks != want {
			t.Errorf("%s: asks %v, want %v (%s)", args, asks, want, d.HumanInTheLoop.RuleID)
		}
	}
}

// "with" changes what a steady document is made of, below it.
func TestMemoStaysOutOfWith(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{
		"rego/access/own.rego": `package toolwarrant.access

import rego.v2

import data.toolwarrant.effective
import data.toolwarrant.risk

reasons contains {"id": "would-be", "message": level, "path": ""} if {
	input.principal.subject != "nobody"
	level := risk.level with effective.file_write as true
}
`})})
	req := request(doc(t, nil))
	for range 3 {
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if d.RiskLevel != "L0" || len(d.Reasons) != 1 || d.Reasons[0].Message != "L4" {
			t.Errorf("level %s, reasons %v; want L0, and L4 for a writer", d.RiskLevel, d.Reasons)
		}
	}
}

// Many callers of one new tool decide at once what each decides alone.
func TestMemoOfManyCallers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	e := newResolver(t, Options{}).active.Load()
	for range shortened(20) {
		first := anyRequest(t, rnd)
		var all []ast.Value
		for range 8 {
			all = append(all, question(t, e, callOf(rnd, first)))
		}
		m := &memo{of: e.program.steady}
		var wait sync.WaitGroup
		for _, input := range all {
			wait.Go(func() {
				want, err := e.eval(context.Background(), e.program.decision, input)
				got, gotErr := e.evalPlanned(context.Background(), e.program.decision, input, m)
				if err != nil || gotErr != nil || want.Value.Compare(got.Value) != 0 {
					t.Errorf("%v %v\nalone:  %s\nat once: %s", err, gotErr, want, got)
				}
			})
		}
		wait.Wait()
	}
}

// callOf is another call of the tool of a request.
func callOf(r *rand.Rand, req Request) Request {
	other := req
	other.Principal = decision.Principal{Subject: oneOf(r, "ann", "local", "bob"), Groups: oneOf(r, nil, []string{"guests"}, []string{"staff"})}
	other.Origin = oneOf(r, decision.OriginMCPHTTP, decision.OriginList)
	other.Args = oneOf(r, json.RawMessage(`{}`), json.RawMessage(`{"p1":"x"}`))
	return other
}

// A demand that is misspelled refuses the calls that it is about; it never lets
// them through.
func TestMisspelledDemandsRefuse(t *testing.T) {
	for name, demand := range map[string]string{
		"a text": `"site-ask"`, "another name": `{"ID": "site-ask", "fourEyes": true}`, "another spelling": `{"id": "site-ask", "foureyes": true}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{
				"rego/hitl/own.rego": "package toolwarrant.hitl\n\nimport rego.v2\n\ndemands contains " + demand + " if input.call.args.who == \"ann\"\n",
			})})
			req := request(doc(t, map[string]any{"params": []map[string]any{{"name": "who", "type": "STRING", "required": false}}}))
			req.Args = json.RawMessage(`{"who":"bob"}`)
			if _, err := r.Resolve(context.Background(), req); err != nil {
				t.Errorf("another call: %v", err)
			}
			req.Args = json.RawMessage(`{"who":"ann"}`)
			_, err := r.Resolve(context.Background(), req)
			if f := fault.From(err); f == nil || f.Code != fault.PolicyUnavailable {
				t.Errorf("%v", err)
			}
		})
	}
}
