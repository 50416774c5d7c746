package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
)

// TestRemove: a field that a policy leaves out is not in the line, and the
// record says which one is not.
func TestRemove(t *testing.T) {
	const secret = "hunter2"
	gone := map[string][]string{
		"/principal/clientId":      {"/decision/input/principal/clientId", "/principal/clientId"},
		"/params":                  {"/decision/input/call/args", "/params"},
		"/traceId":                 {"/traceId"},
		"/humanInTheLoop/approver": {"/humanInTheLoop/approver"},
		"/error/message":           {"/error/message"},
		"/usage/egress":            {"/usage/egress"},
		"/usage/fs":                {"/usage/fs"},
		"/shadow":                  {"/shadow"},
		"/decision/input":          {"/decision/input"},
		"/principal/groups":        {"/principal/groups"},
	}
	if len(gone) != len(decision.Removable) {
		t.Errorf("%d of %d fields have a case", len(gone), len(decision.Removable))
	}
	for _, field := range decision.Removable {
		c := secretCall(secret)
		c.Principal.Groups = []string{"g"}
		c.Decision.MaskedPointers = []string{}
		before := c
		c.Drop = []string{field}
		got := prepare(c, nil)
		pointers := slices.Sorted(slices.Values(got.Decision.MaskedPointers))
		if diff := cmp.Diff(gone[field], pointers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
		if before.Principal.ClientID != secret || string(before.Params) == "" || before.Usage.FS == nil {
			t.Errorf("%s: the caller's own values were changed", field)
		}
		if got.CallID != c.CallID || got.Outcome == nil || got.Policy == nil || got.Decision.ID != c.Decision.ID || got.Result == nil || got.Tool == nil {
			t.Errorf("%s: the record lacks what it is accounted for with: %+v", field, got)
		}
		line, err := encodeCall("w", &got)
		if err != nil {
			t.Fatal(err)
		}
		plain := prepare(before, nil)
		whole, err := encodeCall("w", &plain)
		if err != nil {
			t.Fatal(err)
		}
		if field != "/principal/groups" && bytes.Count(line, []byte(secret)) >= bytes.Count(whole, []byte(secret)) {
			t.Errorf("%s is still there: %s", field, line)
		}
	}
}

// TestRemoveAll: with everything gone that may go, nothing of the caller is
// left but what is masked; a field that may not go means the same.
func TestRemoveAll(t *testing.T) {
	for name, fields := range map[string][]string{
		"all": decision.Removable, "a structural one": {"/callId"}, "no field": {"/params", "/nonsense"}, "deeper": {"/params/pin"}, "the record": {""},
	} {
		w := mustOpen(t, t.TempDir(), Options{})
		c := sampleCall("call-1")
		c.Drop = fields
		must(t, w.Close(context.Background(), c, nil))
		wantOK(t, w.Path())
		r := records(t, w.Path())[0]
		if string(r.Params) != "null" || r.TraceID != nil || r.Principal.ClientID != "" || len(r.Principal.Groups) > 0 || r.HITL.Approver != nil ||
			r.Error.Message != "" || r.Usage.Egress != nil || r.Usage.FS != nil || r.Shadow != nil || string(r.Decision.Input) != "null" {
			t.Errorf("%s: %+v", name, r)
		}
		if r.CallID != "call-1" || r.Outcome == nil || r.ParamsDigest == nil || r.Decision.ID == "" || r.Tool.ToolID == "" {
			t.Errorf("%s: the record lost what it is accounted for with", name)
		}
	}
}

// TestRemoveFromRecordsOfLess: a record that does not have the field says
// nothing of it.
func TestRemoveFromRecordsOfLess(t *testing.T) {
	c := Call{Phase: PhaseClose, CallID: "c", Drop: decision.Removable, Decision: &Decision{ID: "d", MaskedPointers: []string{}}}
	if got := prepare(c, nil); len(got.Decision.MaskedPointers) != 0 {
		t.Errorf("%v", got.Decision.MaskedPointers)
	}
	c.Decision = nil
	prepare(c, swap{"x"})
}

// TestRemoveWhereMaskingFails: what was to be left out is.
func TestRemoveWhereMaskingFails(t *testing.T) {
	c := secretCall("hunter2")
	c.Drop = []string{"/shadow", "/usage/fs"}
	got := prepare(c, broken{"panic-string"})
	if got.Shadow != nil || got.Usage.FS != nil || got.Error.Message != withheld {
		t.Errorf("%+v", got)
	}
}

// TestKnownPointersKeepTheirPlace: an argument that is spelt like a member of
// the format does not hide where something was masked.
func TestKnownPointersKeepTheirPlace(t *testing.T) {
	for _, secret := range []string{"decision", "input", "params", "args"} {
		c := sampleCall("call-1")
		c.Params, c.Decision.Input = json.RawMessage(`{}`), nil
		c.Decision.MaskedPointers = []string{"/params/pin", "/decision/input/call/args/pin"}
		got := prepare(c, swap{secret}).Decision.MaskedPointers
		if diff := cmp.Diff(c.Decision.MaskedPointers, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", secret, diff)
		}
	}
}
