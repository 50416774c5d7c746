package executor

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/export"
	"github.com/toolwarrant/toolwarrant/audit/index"
	"github.com/toolwarrant/toolwarrant/audit/sink/spool"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const privateTool = `{"name": "t", "codeType": "Javascript", "code": "return 1;", "params": [
	{"name": "a", "type": "STRING", "required": false}, {"name": "o", "type": "OBJECT", "required": false},
	{"name": "n", "type": "NUMBER", "required": false}, {"name": "open", "type": "STRING", "required": false}]}`

// deadSink takes nothing, so that lines stay in the spool.
type deadSink struct{}

func (deadSink) Write(context.Context, [][]byte, bool) error { return errors.New("down") }
func (deadSink) Close() error                                { return nil }

// recorded gives a rig whose log is a file with a spool, and its folder.
func recorded(t *testing.T, doc string) (*rig, string, *audit.Writer) {
	t.Helper()
	g, dir := newRig(t, doc), t.TempDir()
	s, err := spool.Open(filepath.Join(dir, "sink"), deadSink{}, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := audit.Open(filepath.Join(dir, "audit"), audit.Options{Sinks: []audit.SinkOption{{Name: "s", Sink: s}}})
	if err != nil {
		t.Fatal(err)
	}
	g.Engine.Audit = w
	t.Cleanup(func() { _ = w.Shutdown(context.Background()) })
	return g, dir, w
}

// everything is what a home holds of its log: every file, once the writer has
// ended and the index is made, and every export.
func everything(t *testing.T, dir string, w *audit.Writer) map[string][]byte {
	t.Helper()
	ctx := context.Background()
	if err := w.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := index.NewUpdater(w.Path()).Update(ctx); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, format := range export.Formats() {
		var out bytes.Buffer
		x, err := export.New(format, &out, "")
		if err != nil {
			t.Fatal(err)
		}
		err = audit.Scan(ctx, []string{w.Path()}, func(l audit.Line) error {
			if l.Head.Phase != audit.PhaseClose {
				return nil
			}
			r, err := l.Decode()
			if err != nil {
				return err
			}
			return x.Add(r, l.Raw)
		})
		if err = errors.Join(err, x.Close()); err != nil {
			t.Fatal(err)
		}
		all[format] = out.Bytes()
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 6 {
		t.Fatalf("there are only %d places", len(all))
	}
	return all
}

// spelled are the forms in which ordinary code writes a text.
func spelled(value string) map[string]string {
	quoted, _ := json.Marshal(value)
	out := map[string]string{
		"plain": value, "in a query": url.QueryEscape(value), "in a path": url.PathEscape(value),
		"in JSON": strings.Trim(string(quoted), `"`), "hexadecimal": hex.EncodeToString([]byte(value)),
	}
	for shift := range 3 {
		text := strings.Repeat("x", shift) + value
		text = text[:len(text)-len(text)%3] // what does not depend on what follows
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			out[fmt.Sprintf("%s, shifted by %d", name, shift)] = enc.EncodeToString([]byte(text))[(shift*8+5)/6:]
		}
	}
	return out
}

// TestHiddenArgumentsAreNowhere: a value that the policy keeps out of the
// record is in no file and no export, in no form that ordinary code writes,
// also where the tool repeats it in its error.
func TestHiddenArgumentsAreNowhere(t *testing.T) {
	values := []string{
		"123-45-6789", "hunter2-Straße", `quo"ted\\back/slash`, "a value with spaces & <html>", "Zürich, 8001", "ann@example.org?x=%20+y", "line\nbreak\tand tab",
	}
	for _, form := range decision.Forms {
		t.Run(string(form), func(t *testing.T) {
			g, dir, w := recorded(t, privateTool)
			for i, value := range values {
				d := allowing("DISABLED")
				d.Mask = []string{} // as policies of this version give both
				d.Record.How = map[string]decision.Form{"/a": form, "/o/deep": form, "/n": form}
				d.Reasons = []decision.Reason{}
				d.RiskSignals = []decision.Signal{{ID: "own", Level: "L0", Message: "wants " + value}}
				g.decide = func() (*decision.Decision, error) { return d, nil }
				var said []string
				for how, s := range spelled(value) {
					if !strings.HasPrefix(how, "base64") { // a part of it
						said = append(said, s)
					}
				}
				for shift := range 3 {
					text := []byte(strings.Repeat("x", shift) + value + "yz")
					said = append(said, base64.StdEncoding.EncodeToString(text), base64.URLEncoding.EncodeToString(text))
				}
				g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
					return worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Reason: "Error", Message: strings.Join(said, " ")}}, nil
				}
				args, err := json.Marshal(map[string]any{"a": value, "o": map[string]any{"deep": []string{value}, "shown": "shown-text"}, "n": 987654321, "open": "see " + value})
				if err != nil {
					t.Fatal(err)
				}
				res := g.Call(t.Context(), Call{Name: "t", Args: args, TraceID: fmt.Sprint("trace ", i, value), Principal: decision.Principal{Subject: "ann", ClientID: "client of " + value}})
				if res.Err == nil || res.Err.Code != fault.JSError {
					t.Fatalf("%v", res.Err)
				}
			}
			all := everything(t, dir, w)
			for where, content := range all {
				for _, value := range append(values, "987654321") {
					for how, text := range spelled(value) {
						if bytes.Contains(content, []byte(text)) {
							t.Errorf("%s: %q is there %s", where, value, how)
						}
					}
				}
			}
			log := string(all[w.Path()])
			if !strings.Contains(log, "shown-text") || strings.Count(log, `"/params/o/deep"`) != 2*len(values) {
				t.Errorf("the records lack what is shown, or where something is not: %s", log)
			}
			if (form == decision.FormDrop) == strings.Contains(log, `"params":{"a":`) {
				t.Errorf("of the form %s the member is wrong: %s", form, log)
			}
		})
	}
}

// TestFieldsThatAPolicyLeavesOut: open and close lack them, and a field that
// may not go takes all that may along, of which the log of the server tells.
func TestFieldsThatAPolicyLeavesOut(t *testing.T) {
	for name, c := range map[string]struct {
		drop []string
		lack []string
		said bool
	}{
		"one":             {[]string{"/principal/clientId"}, []string{"the-client"}, false},
		"arguments":       {[]string{"/params"}, []string{"the-argument"}, false},
		"one that cannot": {[]string{"/callId"}, []string{"the-client", "the-argument", "the-trace", "the-error"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, dir, w := recorded(t, privateTool)
			var said bytes.Buffer
			g.Engine.Logger = zerolog.New(&said)
			d := allowing("DISABLED")
			d.Record.Drop = c.drop
			g.decide = func() (*decision.Decision, error) { return d, nil }
			g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
				return worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Reason: "Error", Message: "the-error"}}, nil
			}
			res := g.Call(t.Context(), Call{Name: "t", Args: json.RawMessage(`{"a":"the-argument"}`), TraceID: "the-trace", Principal: decision.Principal{Subject: "ann", ClientID: "the-client"}})
			if res.Err == nil || res.Err.Message != "the-error" {
				t.Errorf("the answer is not as ever: %v", res.Err)
			}
			for where, content := range everything(t, dir, w) {
				for _, text := range c.lack {
					if bytes.Contains(content, []byte(text)) {
						t.Errorf("%s: %s is there", where, text)
					}
				}
			}
			if got := strings.Contains(said.String(), "log.drop of the policy"); got != c.said {
				t.Errorf("the log of the server: %s", said.String())
			}
		})
	}
}

// TestTooMuchToLookFor: where more is hidden than can be looked for, no text is
// shown that a tool could have made of it, or that a caller wrote twice.
func TestTooMuchToLookFor(t *testing.T) {
	for name, reply := range map[string]worker.Reply{
		"error":  {Failure: &worker.Failure{Code: "JS_ERROR", Reason: "value-7", Message: "no value-7 here"}},
		"result": {Result: json.RawMessage(`{"list":["value-7",700000],"of value-7":{"value-7":1},"is":true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			g, dir, w := recorded(t, privateTool)
			d := allowing("DISABLED")
			d.Record = decision.Record{Result: decision.ResultContent, How: map[string]decision.Form{"/o": "hash"}}
			g.decide = func() (*decision.Decision, error) { return d, nil }
			g.run = func(worker.Call, worker.Broker) (worker.Reply, error) { return reply, nil }
			many := []any{700000}
			for i := range maxHiddenTexts {
				many = append(many, fmt.Sprint("value-", i))
			}
			args, err := json.Marshal(map[string]any{"o": map[string]any{"list": many}, "open": "see value-7", "n": 700000})
			if err != nil {
				t.Fatal(err)
			}
			g.Call(t.Context(), Call{Name: "t", Args: args})
			all := everything(t, dir, w)
			for where, content := range all {
				for _, text := range []string{"value-7", "700000"} {
					if bytes.Contains(content, []byte(text)) {
						t.Errorf("%s: %s is there", where, text)
					}
				}
			}
			for _, want := range []string{`"params":{"o":"sha256:`, `"open":"***"`} {
				if !bytes.Contains(all[w.Path()], []byte(want)) {
					t.Errorf("the record lacks %s: %s", want, all[w.Path()])
				}
			}
		})
	}
}

// TestReasonOfATool: the name of an error is a text of the tool too, also where
// it looks like a reason of this module.
func TestReasonOfATool(t *testing.T) {
	for reason, want := range map[string]string{"hunter2secret": `"reason":"***"`, "TypeError": `"reason":"TypeError"`} {
		g, dir, w := recorded(t, privateTool)
		d := allowing("DISABLED")
		d.Record.How = map[string]decision.Form{"/a": "mask"}
		g.decide = func() (*decision.Decision, error) { return d, nil }
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{Failure: &worker.Failure{Code: "JS_ERROR", Reason: reason, Message: "m"}}, nil
		}
		res := g.Call(t.Context(), Call{Name: "t", Args: json.RawMessage(`{"a":"hunter2secret"}`)})
		if res.Err == nil || res.Err.Reason != reason {
			t.Errorf("the answer is not as ever: %v", res.Err)
		}
		for where, content := range everything(t, dir, w) {
			if bytes.Contains(content, []byte("hunter2secret")) {
				t.Errorf("%s: it is there", where)
			}
			if where == w.Path() && !bytes.Contains(content, []byte(want)) {
				t.Errorf("the record lacks %s: %s", want, content)
			}
		}
	}
}

// TestResultOfARecord: it is kept by its digest, and as it is where the policy
// asks for it, without what is hidden.
func TestResultOfARecord(t *testing.T) {
	for asked, want := range map[string]bool{"": false, decision.ResultContent: true} {
		g, dir, w := recorded(t, privateTool)
		d := allowing("DISABLED")
		d.Record = decision.Record{Result: asked, How: map[string]decision.Form{"/a": "drop"}}
		g.decide = func() (*decision.Decision, error) { return d, nil }
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{Result: json.RawMessage(`{"hello":"the-argument"}`)}, nil
		}
		res := g.Call(t.Context(), Call{Name: "t", Args: json.RawMessage(`{"a":"the-argument"}`)})
		if string(res.Value) != `{"hello":"the-argument"}` {
			t.Errorf("the answer is not as ever: %s", res.Value)
		}
		log := string(everything(t, dir, w)[w.Path()])
		if got := strings.Contains(log, `"content":{"hello":"***"}`); got != want || strings.Contains(log, "the-argument") {
			t.Errorf("%q: %s", asked, log)
		}
	}
}

// hidingPolicy is a policy whose settings hide some argument.
type hidingPolicy struct {
	*rig
	hides bool
}

func (p hidingPolicy) HidesArguments() bool { return p.hides }

// TestArgumentsOfUndecidedCalls are on record only where nobody hides any.
func TestArgumentsOfUndecidedCalls(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		hides bool
		want  bool
	}{
		"nobody":       {privateTool, false, true},
		"the operator": {privateTool, true, false},
		"the author":   {strings.Replace(privateTool, "{", `{"x-toolwarrant-mask": {"a": "hash"}, `, 1), false, false},
	} {
		g, dir, w := recorded(t, c.doc)
		g.Engine.Policy = hidingPolicy{g, c.hides}
		res := g.Call(t.Context(), Call{Name: "t", Args: json.RawMessage(`{"a":"the-argument","unknown":1}`)})
		if res.Err == nil || res.Err.Code != fault.InvalidArguments {
			t.Fatalf("%v", res.Err)
		}
		if got := strings.Contains(string(everything(t, dir, w)[w.Path()]), "the-argument"); got != c.want {
			t.Errorf("%s: on record %v, want %v", name, got, c.want)
		}
	}
}

// TestMessagesOfUndecidedCalls: where the arguments of such a call are kept
// off the record, so is what the error says of them, names that the caller
// chose included. What only tells of the tool's own parameters stays, and the
// caller is told as ever.
func TestMessagesOfUndecidedCalls(t *testing.T) {
	for args, reason := range map[string]string{
		`{"a":"x","the-argument":1}`:                        "unknown-argument",
		`{"a":"x","a":"the-argument"}`:                      "duplicate-member",
		`{"a":"x","b":{"the-argument":1,"the-argument":2}}`: "duplicate-member",
		`{"a":"x", the-argument`:                            "syntax",
		`{"a":{"the-argument":1}}`:                          "wrong-type",
		`{}`:                                                "missing-argument",
	} {
		for _, hides := range []bool{false, true} {
			g, dir, w := recorded(t, strings.Replace(privateTool, `"required": false`, `"required": true, "testValue": "x"`, 1))
			g.Engine.Policy = hidingPolicy{g, hides}
			res := g.Call(t.Context(), Call{Name: "t", Args: json.RawMessage(args)})
			if res.Err == nil || res.Err.Code != fault.InvalidArguments || res.Err.Reason != reason {
				t.Fatalf("%s: %v", args, res.Err)
			}
			log := string(everything(t, dir, w)[w.Path()])
			if hides && strings.Contains(log, "the-argument") {
				t.Errorf("%s: on record: %s", args, log)
			}
			told, err := json.Marshal(res.Err.Message)
			if err != nil {
				t.Fatal(err)
			}
			ofTheTool := reason == "wrong-type" || reason == "missing-argument"
			if got := strings.Contains(log, `"message":`+string(told)); got != (!hides || ofTheTool) {
				t.Errorf("%s, hides %v: the message %s is on record: %v", args, hides, told, got)
			}
			if res.Err.Message == "***" || !strings.Contains(log, `"reason":"`+reason+`"`) {
				t.Errorf("%s: the caller is told %q, the record has %s", args, res.Err.Message, log)
			}
		}
	}
}
