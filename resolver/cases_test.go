package resolver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

var update = flag.Bool("update", false, "write what is decided into testdata/cases")

// policyCase is one file of testdata/cases: a document in, the decision or the
// faults out. -update writes the second half.
type policyCase struct {
	Note     string          `json:"note"`
	Source   string          `json:"source"`
	Spec     json.RawMessage `json:"spec"`
	Decision json.RawMessage `json:"decision,omitempty"`
	Faults   json.RawMessage `json:"faults,omitempty"`
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	r := newResolver(t, Options{Operator: Operator{BasePath: "/base"}})
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c policyCase
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			got := c
			got.Decision, got.Faults = decideCase(t, r, c)
			if *update {
				out, err := json.MarshalIndent(got, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, append(out, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(indented(t, c.Decision), indented(t, got.Decision)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(indented(t, c.Faults), indented(t, got.Faults)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// decideCase leaves out what differs from run to run or with every edit of the
// policy.
func decideCase(t *testing.T, r *Resolver, c policyCase) (decided, faults json.RawMessage) {
	t.Helper()
	var spec bytes.Buffer
	if err := json.Compact(&spec, c.Spec); err != nil { // positions do not follow the layout of the case
		t.Fatal(err)
	}
	req := request(parseDoc(t, spec.Bytes()))
	req.Tool.Source = c.Source
	d, err := r.Resolve(context.Background(), req)
	var rejected *Rejection
	if errors.As(err, &rejected) {
		for i, f := range rejected.All {
			if f.Code != fault.ResolverReject {
				t.Errorf("fault %d is %s", i, f.Code)
			}
		}
		faults, err = json.Marshal(rejected.All)
		if err != nil {
			t.Fatal(err)
		}
		return nil, faults
	}
	if err != nil {
		t.Fatal(err)
	}
	d.DecisionID, d.PolicyRevision = "", ""
	if decided, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	return decided, nil
}

func indented(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
