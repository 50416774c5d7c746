package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

var update = flag.Bool("update", false, "write the golden files")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type closed struct {
	record audit.Record
	raw    []byte
}

func ptr[T any](v T) *T { return &v }

// samples are closes made of the sample log: one that holds all that one can,
// one that failed, and one of an unknown tool and an unknown caller.
func samples(t testing.TB) (out []closed) {
	t.Helper()
	var full audit.Record
	must(t, audit.Scan(t.Context(), []string{filepath.Join("..", "testdata", "sample.ndjson")}, func(l audit.Line) error {
		r, err := l.Decode()
		if r.Tool != nil {
			full = r
		}
		return err
	}))
	full.Phase, full.Outcome, full.Error, full.Shadow = audit.PhaseClose, ptr(fault.OK), nil, nil
	full.HITL = &audit.HITL{Mode: "REQUIRED", Outcome: audit.HITLAccepted, Approver: ptr("bob"), Channel: ptr("elicitation")}
	full.Result = &audit.Result{Bytes: 12, Digest: "sha256:" + strings.Repeat("ab", 32)}
	failed := full
	failed.Seq, failed.CallID, failed.Outcome = full.Seq+1, "call-2", ptr(fault.Failed)
	failed.Error = &audit.Error{Code: fault.Timeout, Reason: ptr("deadline"), Message: "=1+1 \"took\"\nlonger, than\u202e allowed"}
	unknown := audit.Record{Time: full.Time, Schema: full.Schema, Seq: full.Seq + 2, Writer: "w1", Sum: full.Sum, Call: audit.Call{
		Phase: audit.PhaseClose, CallID: "call-3", Origin: "mcp-stdio", Outcome: ptr(fault.Denied),
		Error: &audit.Error{Code: fault.NotFound, Message: "there is no such tool"},
	}}
	for _, r := range []audit.Record{full, failed, unknown} {
		raw, err := json.Marshal(r)
		must(t, err)
		out = append(out, closed{r, raw})
	}
	return out
}

func exported(t testing.TB, format string, list []closed) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := New(format, &b, "1.2.3")
	must(t, err)
	for _, c := range list {
		must(t, w.Add(c.record, c.raw))
	}
	must(t, w.Close())
	return b.Bytes()
}

// TestGolden holds each format against its file.
func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		got := exported(t, format, samples(t))
		file := filepath.Join("testdata", format+".golden")
		if *update {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(file, got, 0o644))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", format, d)
		}
	}
	if _, err := New("xml", nil, ""); err == nil || fault.From(err).Code != fault.Usage {
		t.Error(err)
	}
}

// TestOCSF has what the schema requires of the class.
func TestOCSF(t *testing.T) {
	for _, line := range bytes.Split(bytes.TrimSpace(exported(t, OCSF, samples(t))), []byte("\n")) {
		var e map[string]any
		must(t, json.Unmarshal(line, &e))
		for _, name := range []string{"activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "time", "metadata", "actor", "api", "src_endpoint"} {
			if e[name] == nil {
				t.Errorf("no %s in %s", name, line)
			}
		}
		if e["type_uid"].(float64) != e["class_uid"].(float64)*100+e["activity_id"].(float64) {
			t.Error(e["type_uid"])
		}
		meta := e["metadata"].(map[string]any)
		if meta["version"] != OCSFVersion || meta["product"].(map[string]any)["vendor_name"] == nil {
			t.Error(meta)
		}
		if e["api"].(map[string]any)["operation"] == "" {
			t.Error(e["api"])
		}
	}
}

// TestOCSFEvents maps an act of somebody, a refusal, and one of nobody.
func TestOCSFEvents(t *testing.T) {
	var b bytes.Buffer
	write := OCSFEvents(&b, "1.2.3")
	one := audit.Record{Time: "2026-11-28T10:00:00.000000Z", Schema: audit.Schema, Seq: 7, Writer: "w1", Sum: "sha256:ab", Kind: ptr("publish"), Detail: json.RawMessage(`{"tool":"x"}`)}
	one.Principal = &audit.Principal{Subject: "ann", Groups: []string{"ops"}}
	refused, own := one, one
	refused.Kind, own.Kind, own.Principal, own.Detail = ptr("policy.refuse"), ptr("torn"), nil, nil
	for _, r := range []audit.Record{one, refused, own} {
		must(t, write(r))
	}
	var got []string
	for line := range bytes.Lines(b.Bytes()) {
		var e struct {
			Time     int64 `json:"time"`
			Type     int   `json:"type_uid"`
			Status   int   `json:"status_id"`
			Action   int   `json:"action_id"`
			API      struct{ Operation string }
			Actor    struct{ User struct{ Name string } }
			Metadata struct {
				UID      *string
				Original string `json:"original_event_uid"`
			}
			Unmapped struct{ Detail json.RawMessage }
		}
		must(t, json.Unmarshal(line, &e))
		got = append(got, fmt.Sprintln(e.Time, e.Type, e.Status, e.Action, e.API.Operation, e.Actor.User.Name, e.Metadata.UID, e.Metadata.Original, string(e.Unmapped.Detail)))
	}
	if d := cmp.Diff([]string{
		`1795860000000 600399 1 1 publish ann <nil> sha256:ab {"tool":"x"}` + "\n",
		`1795860000000 600399 2 2 policy.refuse ann <nil> sha256:ab {"tool":"x"}` + "\n",
		`1795860000000 600399 1 1 torn toolwarrant <nil> sha256:ab null` + "\n",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOTelBatches puts no more into a line than a receiver may hold.
func TestOTelBatches(t *testing.T) {
	one := samples(t)[:1]
	var all []closed
	for range 2*otelBatch + 1 {
		all = append(all, one...)
	}
	lines := bytes.Split(bytes.TrimSpace(exported(t, OTel, all)), []byte("\n"))
	if len(lines) != 3 {
		t.Fatal(len(lines))
	}
	n := 0
	for _, l := range lines {
		n += bytes.Count(l, []byte(`"eventName"`))
	}
	if n != len(all) {
		t.Error(n)
	}
	if got := exported(t, OTel, nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// TestCSV reads back what was written, and finds no formula in it.
func TestCSV(t *testing.T) {
	if got := exported(t, CSV, nil); string(got) != strings.Join(Columns, ",")+"\n" {
		t.Errorf("%q", got)
	}
	rows, err := csv.NewReader(bytes.NewReader(exported(t, CSV, samples(t)))).ReadAll()
	must(t, err)
	for _, r := range rows {
		if len(r) != len(Columns) {
			t.Error(r)
		}
	}
	for in, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "  =x": "'  =x", "\t=x": `'\t=x`,
		"\r\n=x": `'\r\n=x`, "|calc": "'|calc", "%0A": "'%0A", "＝x": "'＝x", "a\nb": `a\nb`, "\u202e=x": `\u202e=x`, `"q",x`: `"q",x`,
	} {
		if got := Cell(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzCell finds no text that a spreadsheet would compute.
func FuzzCell(f *testing.F) {
	for _, s := range []string{"=cmd|' /C calc'!A0", "\x00=1", "\ufeff=1", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := strings.TrimSpace(Cell(s)); got != "" && strings.ContainsRune("=+-@\t\r\n\x00", rune(got[0])) {
			t.Errorf("%q: %q", s, got)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the output is full") }

// TestOutputFails says so.
func TestOutputFails(t *testing.T) {
	for _, format := range Formats() {
		w, err := New(format, broken{}, "")
		must(t, err)
		err = nil
		for range otelBatch {
			for _, c := range samples(t) {
				err = errors.Join(err, w.Add(c.record, c.raw))
			}
		}
		if errors.Join(err, w.Close()) == nil {
			t.Error(format)
		}
	}
}
