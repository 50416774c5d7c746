package js

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

var update = flag.Bool("update", false, "write docs/compatibility.md anew")

// A probe is one feature of the language or of the host. What it gives in a
// reference engine stands in answers.json, written by reference.mjs.
type probe struct {
	name, category, code string
	gap                  string // why it is refused, "" where it runs
	Want                 string
	Reference            bool // the reference engine has the feature
}

func probes(t testing.TB) []*probe {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "probes", "probes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(filepath.Join("testdata", "probes", "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*probe
	category := ""
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case kind == "==":
			category = rest
		case kind == "--":
			list = append(list, &probe{name: rest, category: category})
		case len(list) == 0 || kind == "=>":
		case kind == "!!":
			list[len(list)-1].gap = rest
		default:
			list[len(list)-1].code += line
		}
	}
	answers := map[string]*probe{}
	if err := json.Unmarshal(stored, &answers); err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		a := answers[p.name]
		if a == nil {
			t.Fatalf("%s has no answer; run reference.mjs", p.name)
		}
		p.Want, p.Reference = a.Want, a.Reference
		p.code = strings.TrimSpace(p.code)
	}
	if len(answers) != len(list) {
		t.Fatalf("%d probes and %d answers; run reference.mjs, and give each probe a name of its own", len(list), len(answers))
	}
	return list
}

// bareRuntime runs code that is not instrumented.
var bareRuntime = func() *Runtime {
	r := New(Options{MaxStuck: 1000})
	r.bare = true
	return r
}()

func probeCall(r *Runtime, code string) worker.Reply {
	rep, err := r.Run(context.Background(), worker.Call{Program: worker.Program{ID: code, Name: "tool.js", Source: code},
		Args:   json.RawMessage("{}"),
		Limits: worker.Limits{MaxStatements: 500000, TimeoutMillis: 60000, MaxOutputBytes: 1 << 20, MaxLogLines: 100}}, nil)
	if err != nil {
		panic(err)
	}
	return rep
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// TestProbes holds that each probe gives what the reference engine gives, or
// is refused when it is loaded and by the check of a document, for the reason
// that the list of known gaps says. It fails for a gap that has closed.
func TestProbes(t *testing.T) {
	list := probes(t)
	passed, reference := 0, 0
	for _, p := range list {
		if p.Reference {
			reference++
		}
		rep := probeCall(shared, p.code)
		found := script.Check(p.code)
		if p.gap == "" {
			switch {
			case rep.Failure != nil || !sameJSON(string(rep.Result), p.Want):
				t.Errorf("%s / %s: got %s, want %s", p.category, p.name, outcome(rep), p.Want)
			case len(found) > 0:
				t.Errorf("%s runs, and the check refuses it: %v", p.name, found)
			default:
				passed++
			}
			continue
		}
		f := rep.Failure
		if f == nil || f.Name != "SyntaxError" || !strings.Contains(f.Message, p.gap) || *rep.Usage.Statements != 0 {
			t.Errorf("the known gap %s: got %s, want a refusal at load with %q", p.name, outcome(rep), p.gap)
		}
		if len(found) == 0 || !strings.Contains(found[0].Message, p.gap) || f != nil && (found[0].Line != f.Line) {
			t.Errorf("the known gap %s: the check says %v", p.name, found)
		}
	}
	if len(list) < 130 || passed < reference-3 {
		t.Errorf("%d of %d probes pass; the reference engine passes %d", passed, len(list), reference)
	}
	t.Logf("%d of %d probes pass; the reference engine passes %d", passed, len(list), reference)
}

// TestInstrumentsChangeNothing compares instrumented code with bare code.
func TestInstrumentsChangeNothing(t *testing.T) {
	for _, p := range probes(t) {
		counted, bare := probeCall(shared, p.code), probeCall(bareRuntime, p.code)
		if a, b := outcome(counted), outcome(bare); a != b && !strings.Contains(p.name, "random") {
			t.Errorf("%s: instrumented %s, bare %s", p.name, a, b)
		}
		if f := counted.Failure; f != nil && (f.Line != bare.Failure.Line || f.Column != bare.Failure.Column) {
			t.Errorf("%s: instrumented at %d:%d, bare at %d:%d", p.name, f.Line, f.Column, bare.Failure.Line, bare.Failure.Column)
		}
		if *bare.Usage.Statements != 0 {
			t.Errorf("%s: the bare program was counted", p.name)
		}
	}
}

// TestCompatibilityPage holds that the published table is what the probes say.
func TestCompatibilityPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "compatibility.md")
	page := compatibilityPage(probes(t))
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(have, page) {
		t.Errorf("docs/compatibility.md is not current (%v): go generate ./executor/js", err)
	}
}

func compatibilityPage(list []*probe) []byte {
	var b bytes.Buffer
	passed, reference, gaps := 0, 0, 0
	for _, p := range list {
		if p.gap == "" {
			passed++
		} else {
			gaps++
		}
		if p.Reference {
			reference++
		}
	}
	fmt.Fprintf(&b, `# What of JavaScript runs

<!-- Generated from executor/js/testdata/probes by go generate ./executor/js. Do not edit. -->

%d small programs are run by the tests, and their results are compared with those of Node.js 20. **%d give the same result; %d are refused.** Node.js 20 itself runs %d; for what only later editions of the language have, the expected result is written down by hand.

A program that is refused does not start: the call ends with `+"`JS_ERROR`, reason `SyntaxError`"+`, before anything ran, and `+"`toolwarrant lint`, `test` and `publish`"+` report `+"`code-syntax`"+` with the line. It is never run as something else.

## What is refused

| Feature | Category | Message |
|---|---|---|
`, len(list), passed, gaps, reference)
	for _, p := range list {
		if p.gap != "" {
			f := probeCall(shared, p.code).Failure
			message := "(runs)"
			if f != nil {
				message = f.Message
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(p.name), p.category, cell(message))
		}
	}
	b.WriteString(`
Also refused, in the same way: ` + "`import` and `export`" + `, ` + "`using`" + ` declarations, decorators, and these globals, unless the code declares the name itself or asks with ` + "`typeof`" + ` whether it is there: `)
	for i, n := range slices.Sorted(maps.Keys(script.Lacking)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + n + "`")
	}
	b.WriteString(`.

` + "`eval`, `Function`" + ` and the constructors of other functions throw an ` + "`EvalError`" + ` where the code reaches them by another way than their name. ` + "`WeakRef`" + ` and ` + "`FinalizationRegistry`" + ` exist and hold what they refer to until the call ends.

`)
	category := ""
	for _, p := range list {
		if p.category != category {
			category = p.category
			fmt.Fprintf(&b, "## %s\n\n| Feature | Here | Node.js 20 |\n|---|---|---|\n", strings.ToUpper(category[:1])+category[1:])
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(p.name), mark(p.gap == ""), mark(p.Reference))
		if next := nextOf(list, p); next == nil || next.category != category {
			b.WriteString("\n")
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func nextOf(list []*probe, p *probe) *probe {
	for i := range list[:len(list)-1] {
		if list[i] == p {
			return list[i+1]
		}
	}
	return nil
}

func mark(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s) }
