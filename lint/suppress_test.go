package lint

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// TestSuppressions: a finding goes with a reason alone, and a list that is
// wrong or old says so.
func TestSuppressions(t *testing.T) {
	const threeTags = `,"tags":["a","b","c"]`
	tests := map[string]struct {
		list string
		want []string
	}{
		"accepted":              {`[{"id":"TW108","reason":"agreed with the platform team"}]`, nil},
		"accepted until today":  {`[{"id":"TW108","reason":"r","expires":"2026-03-01"}]`, nil},
		"no end":                {`[{"id":"TW108","reason":"r","expires":null}]`, nil},
		"empty list":            {`[]`, []string{"error TW108 /tags/2"}},
		"over since yesterday":  {`[{"id":"TW108","reason":"r","expires":"2026-02-28"}]`, []string{"error TW108 /tags/2", "error TW117 /x-toolwarrant-lint/0/expires"}},
		"no day":                {`[{"id":"TW108","reason":"r","expires":"2026-02-30"}]`, []string{"error TW108 /tags/2", "error TW116 /x-toolwarrant-lint/0/expires"}},
		"unknown rule":          {`[{"id":"TW999","reason":"r"},{"id":"TW108","reason":"r"}]`, []string{"error TW116 /x-toolwarrant-lint/0/id"}},
		"rule of the policy":    {`[{"id":"noted","reason":"r"},{"id":"TW108","reason":"r"}]`, []string{"warning TW118 /x-toolwarrant-lint/0"}},
		"nothing to hide":       {`[{"id":"TW109","reason":"r"},{"id":"TW108","reason":"r"}]`, []string{"warning TW118 /x-toolwarrant-lint/0"}},
		"twice":                 {`[{"id":"TW108","reason":"r"},{"id":"TW108","reason":"s"}]`, []string{"warning TW118 /x-toolwarrant-lint/1"}},
		"a code is no rule":     {`[{"id":"SPEC_INVARIANT","reason":"r"},{"id":"TW108","reason":"r"}]`, []string{"error TW116 /x-toolwarrant-lint/0/id"}},
		"the list about itself": {`[{"id":"TW118","reason":"r"},{"id":"TW108","reason":"r"}]`, []string{"error TW116 /x-toolwarrant-lint/0/id"}},
		"no reason":             {`[{"id":"TW108"}]`, []string{"error SPEC_PARSE /x-toolwarrant-lint/0/reason"}},
		"blank reason":          {`[{"id":"TW108","reason":" "}]`, []string{"error SPEC_PARSE /x-toolwarrant-lint/0/reason"}},
		"another member":        {`[{"id":"TW108","reason":"r","until":"x"}]`, []string{"error SPEC_PARSE /x-toolwarrant-lint/0/until"}},
		"not a list":            {`"TW108"`, []string{"error SPEC_PARSE /x-toolwarrant-lint"}},
	}
	policy := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) { return nil, nil, nil }
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := tree(t, map[string]string{"t.json": document(threeTags + `,"x-toolwarrant-lint":` + tt.list)})
			r, err := Run(context.Background(), []string{path}, Options{
				Resolve: policy, Titles: map[string]string{"noted": "Noted"}, Now: time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, string(f.Severity)+" "+f.RuleID+" "+f.Pointer)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCodesCannotBeSuppressed: what the schema, an invariant or the policy
// refuses stays, whatever the document says.
func TestCodesCannotBeSuppressed(t *testing.T) {
	path := tree(t, map[string]string{"t.json": `{"name":"t","code":"return +*","codeType":"Javascript","x-toolwarrant-lint":[
		{"id":"SPEC_INVARIANT","reason":"r"},{"id":"RESOLVER_REJECT","reason":"r"}]}`})
	refuse := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
		return []*fault.Error{fault.New(fault.ResolverReject, "x", "no")}, nil, nil
	}
	r, err := Run(context.Background(), []string{path}, Options{Resolve: refuse})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, f := range r.Findings {
		ids[f.RuleID]++
	}
	if diff := cmp.Diff(map[string]int{"SPEC_INVARIANT": 1, "RESOLVER_REJECT": 1, "TW116": 2}, ids); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestSuppressedStaysInSARIF: code scanning shows what was accepted, and why.
func TestSuppressedStaysInSARIF(t *testing.T) {
	path := tree(t, map[string]string{"t.json": document(`,"tags":["a","b","c"],"x-toolwarrant-lint":[{"id":"TW108","reason":"agreed","expires":"2999-01-01"}]`)})
	r, err := Run(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := SARIF(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"justification": "agreed"`) || !strings.Contains(b.String(), `"kind": "inSource"`) {
		t.Errorf("got %s", b.String())
	}
	b.Reset()
	if err := SuppressionsText(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "TW108 used until 2999-01-01 (1): agreed\n1 suppression in 1 file\n") {
		t.Errorf("got %s", b.String())
	}
	b.Reset()
	if err := Text(&b, r); err != nil || b.String() != "0 errors, 0 warnings, 1 suppressed in 1 file\n" {
		t.Errorf("got %s, %v", b.String(), err)
	}
}

// TestSecretReason: a reason with a secret is found, cannot be accepted, and is
// repeated by no report; nor is the line of a secret that is accepted.
func TestSecretReason(t *testing.T) {
	const secret = "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789"
	list := `[{"id":"TW108","reason":"use ` + secret + `"},{"id":"secret-in-text","reason":"agreed"}]`
	path := tree(t, map[string]string{"t.json": document(`,"tags":["a","b","c"],"x-toolwarrant-lint":` + list)})
	found := []Finding{{RuleID: "secret-in-text", Severity: Error, Message: "m", Pointer: "/x-toolwarrant-lint/0/reason"}}
	refused := []*fault.Error{fault.New(fault.ResolverReject, "r", "refused")}
	for name, tt := range map[string]struct {
		policy Resolve
		errors int
		reason string
	}{
		"found": {func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) { return nil, found, nil }, 1, withheldReason},
		"refused": {func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
			return refused, nil, nil
		}, 1, unreadReason},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), []string{path}, Options{Resolve: tt.policy, Titles: map[string]string{"secret-in-text": "t"}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Summary.Errors != tt.errors {
				t.Errorf("findings: %+v", r.Findings)
			}
			var b bytes.Buffer
			for _, write := range []func(io.Writer, Report) error{Text, JSON, SARIF, JUnit, GitHub, SuppressionsText, SuppressionsJSON} {
				if err := write(&b, r); err != nil {
					t.Fatal(err)
				}
			}
			if name == "found" && strings.Contains(b.String(), secret) {
				t.Errorf("a report repeats the secret:\n%s", b.String())
			}
			if strings.Count(b.String(), tt.reason) < 3 { // SARIF, and both lists
				t.Errorf("reports lack %q:\n%s", tt.reason, b.String())
			}
		})
	}
}

func TestAcceptedSecretIsNotShown(t *testing.T) {
	path := tree(t, map[string]string{"t.json": document(`,"tags":["a","b","c"],"x-toolwarrant-lint":[{"id":"secret-literal","reason":"a sample"}]`)})
	policy := func(context.Context, *spec.Spec, []string) ([]*fault.Error, []Finding, error) {
		return nil, []Finding{{RuleID: "secret-literal", Severity: Error, Message: "m", Pointer: "/code"}}, nil
	}
	r, err := Run(context.Background(), []string{path}, Options{Resolve: policy, Titles: map[string]string{"secret-literal": "t"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "return 1") {
		t.Errorf("the line is shown:\n%s", b.String())
	}
}
