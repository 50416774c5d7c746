package resolver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

func twoParams() []map[string]any {
	return []map[string]any{{"name": "pin", "type": "STRING", "required": false}, {"name": "x", "type": "STRING", "required": false}}
}

// TestMask: every shape that an author may write, and what cannot be read
// masks every argument.
func TestMask(t *testing.T) {
	type forms = map[string]decision.Form
	r := newResolver(t, Options{})
	const at = "/x-toolwarrant-mask"
	for mask, want := range map[string]struct {
		forms  forms
		unread []string
	}{
		`["pin"]`:                      {forms{"/pin": "mask"}, nil},
		`[]`:                           {nil, nil},
		`null`:                         {nil, nil},
		`{}`:                           {nil, nil},
		`{"pin":"mask"}`:               {forms{"/pin": "mask"}, nil},
		`{"pin":"drop","x":"hash"}`:    {forms{"/pin": "drop", "/x": "hash"}, nil},
		`{"pin":"hmac","gone":"drop"}`: {forms{"/pin": "hmac"}, nil},
		`{"bad":1}`:                    {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/bad"}},
		`{"pin":"hide"}`:               {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/pin"}},
		`{"pin":null}`:                 {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/pin"}},
		`{"pin":"drop","x":7}`:         {forms{"/pin": "drop", "/x": "mask"}, []string{at + "/x"}},
		`{"pin":"hash","a/b":7}`:       {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/a~1b"}},
		`["pin",1]`:                    {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/1"}},
		`[null]`:                       {forms{"/pin": "mask", "/x": "mask"}, []string{at + "/0"}},
		`"pin"`:                        {forms{"/pin": "mask", "/x": "mask"}, []string{at}},
		`true`:                         {forms{"/pin": "mask", "/x": "mask"}, []string{at}},
	} {
		s := doc(t, map[string]any{"params": twoParams(), "x-toolwarrant-mask": json.RawMessage(mask)})
		d, err := r.Resolve(context.Background(), request(s))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.forms, d.Hidden()); diff != "" {
			t.Errorf("%s: %s", mask, diff)
		}
		if d.Record.Drop != nil || d.Record.Result != "" {
			t.Errorf("%s: %+v", mask, d.Record)
		}
		findings, err := r.Findings(context.Background(), Tool{Spec: s, Source: "user"}, decision.Principal{Subject: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		var unread []string
		for _, f := range findings {
			if f.ID == "mask-unreadable" {
				unread = append(unread, f.Pointer)
			}
		}
		if !slices.Equal(unread, want.unread) {
			t.Errorf("%s: found %v, want %v", mask, unread, want.unread)
		}
	}
}

// TestMaskOfBoth: the author never weakens what the operator says.
func TestMaskOfBoth(t *testing.T) {
	for _, operator := range decision.Forms {
		r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/data.json": settings(t, map[[2]string]any{
			{"log", "maskParams"}: map[string]any{"pin": operator},
		})})})
		for _, author := range append([]decision.Form{"", "bad"}, decision.Forms...) {
			member := map[string]any{}
			if author != "" {
				member["pin"] = author
			}
			d, err := r.Resolve(context.Background(), request(doc(t, map[string]any{"params": twoParams(), "x-toolwarrant-mask": member})))
			if err != nil {
				t.Fatal(err)
			}
			want := operator
			if author.Known() && author.AtLeast(operator) {
				want = author
			}
			if author == "bad" && !operator.AtLeast(decision.FormMask) {
				want = decision.FormMask
			}
			if got := d.Hidden()["/pin"]; got != want {
				t.Errorf("operator %s, author %s: %s, want %s", operator, author, got, want)
			}
		}
	}
}

// TestRecordRulesOfTheCall: what a rule makes of the arguments or the time is
// asked anew for each call.
func TestRecordRulesOfTheCall(t *testing.T) {
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/own.rego": `package toolwarrant.log

import rego.v2

hide contains {"pointer": "/x/street", "form": "hmac"} if input.call.args.pin == "ann"

drop contains "/traceId" if input.call.args.pin == "ann"

result := "content" if input.now > "2030"
`})})
	req := request(doc(t, map[string]any{"params": twoParams()}))
	for _, who := range []string{"bob", "ann", "bob", "ann"} {
		req.Args = json.RawMessage(fmt.Sprintf(`{"pin":%q}`, who))
		d, err := r.Resolve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		want := decision.Record{}
		if who == "ann" {
			want = decision.Record{How: map[string]decision.Form{"/x/street": "hmac"}, Drop: []string{"/traceId"}}
		}
		if diff := cmp.Diff(want, d.Record); diff != "" {
			t.Errorf("%s: %s", who, diff)
		}
	}
}

// TestRecordOfAnotherShape is no decision.
func TestRecordOfAnotherShape(t *testing.T) {
	for record, says := range map[string]string{
		`{"how": {"/x": "hide"}, "drop": set(), "result": "digest"}`: "record.how",
		`{"how": {"x": "mask"}, "drop": set(), "result": "digest"}`:  "no pointer",
		`{"how": [], "drop": set(), "result": "digest"}`:             "record.how is not an object",
		`{"how": {}, "drop": {1}, "result": "digest"}`:               "drop",
		`{"how": {}, "drop": set(), "result": "all"}`:                "record.result",
		`{"how": {}, "drop": set()}`:                                 "lacks how, drop or result",
	} {
		_, err := resolveWith(t, "log.record", record, nil)
		f := wantFault(t, err, fault.PolicyUnavailable, "eval-error")
		if !strings.Contains(f.Message, says) {
			t.Errorf("%s: %q lacks %q", record, f.Message, says)
		}
	}
}

// TestOlderPolicies give masks alone. Settings that such a policy would not
// obey make it decide nothing.
func TestOlderPolicies(t *testing.T) {
	d, err := resolveWith(t, "\t\"record\": log.record,\n", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]decision.Form{"/pin": "mask"}, d.Hidden()); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]any{
		"maskParams": map[string]any{"x": "drop"}, "dropFields": []string{"/traceId"}, "resultContent": []string{"probe"},
	} {
		_, err := resolveWith(t, "\t\"record\": log.record,\n", "", map[[2]string]any{{"log", name}: value})
		wantFault(t, err, fault.PolicyUnavailable, "eval-error")
	}
}

// resolveWith decides under the shipped policy with a text of its entry point
// replaced.
func resolveWith(t *testing.T, old, new string, with map[[2]string]any) (*decision.Decision, error) {
	t.Helper()
	text := readFile(t, "../rego/decision.rego")
	if !strings.Contains(text, old) {
		t.Fatalf("there is no %q", old)
	}
	r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{
		"rego/decision.rego": strings.Replace(text, old, new, 1), "rego/data.json": settings(t, with),
	})})
	return r.Resolve(context.Background(), request(doc(t, map[string]any{"params": twoParams(), "x-toolwarrant-mask": []string{"pin"}})))
}

func TestHidesArguments(t *testing.T) {
	for name, c := range map[string]struct {
		with map[[2]string]any
		want bool
	}{
		"as shipped":    {nil, false},
		"a list":        {map[[2]string]any{{"log", "maskParams"}: []string{"x"}}, true},
		"an object":     {map[[2]string]any{{"log", "maskParams"}: map[string]any{"x": "hash"}}, true},
		"none":          {map[[2]string]any{{"log", "maskParams"}: map[string]any{}}, false},
		"all of them":   {map[[2]string]any{{"log", "dropFields"}: []string{"/traceId", "/params"}}, true},
		"another field": {map[[2]string]any{{"log", "dropFields"}: []string{"/traceId"}}, false},
	} {
		r := newResolver(t, Options{Policy: policyFolder(t, map[string]string{"rego/data.json": settings(t, c.with)})})
		if got := r.HidesArguments(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
