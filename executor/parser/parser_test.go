package parser

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

type parse func(string) (json.RawMessage, *worker.Failure)

func csv(opts CSVOptions) parse {
	return func(s string) (json.RawMessage, *worker.Failure) { return CSV(context.Background(), s, opts) }
}

func xmlParse(s string) (json.RawMessage, *worker.Failure)  { return XML(context.Background(), s) }
func yamlParse(s string) (json.RawMessage, *worker.Failure) { return YAML(context.Background(), s) }

func TestResults(t *testing.T) {
	header := csv(CSVOptions{Header: true})
	tests := []struct {
		name  string
		parse parse
		in    string
		want  string
	}{
		{"csv", csv(CSVOptions{}), "a,b\n1,2\n", `[["a","b"],["1","2"]]`},
		{"csv line ends and blank lines", csv(CSVOptions{}), "\n\na,b\r\n\r\n1,2\r3,4", `[["a","b"],["1","2"],["3","4"]]`},
		{"csv quotes", csv(CSVOptions{}), "\"a,\"\"x\"\"\",\"line\r\nbreak\",\"\"\n", `[["a,\"x\"","line\r\nbreak",""]]`},
		{"csv quote inside", csv(CSVOptions{}), "a\"b, \"c\"\n", `[["a\"b"," \"c\""]]`},
		{"csv white space after a quote", csv(CSVOptions{}), "\"a\"  ,b\n", `[["a","b"]]`},
		{"csv empty fields", csv(CSVOptions{}), ",\n,x,\n", `[["",""],["","x",""]]`},
		{"csv delimiter", csv(CSVOptions{Delimiter: ";x"}), "a;b,c\n", `[["a","b,c"]]`},
		{"csv tab delimiter after a quote", csv(CSVOptions{Delimiter: "\t"}), "\"a\"\t\"b\"\n", `[["a","b"]]`},
		{"csv wide delimiter", csv(CSVOptions{Delimiter: "→"}), "a→b\n", `[["a","b"]]`},
		{"csv byte order mark", csv(CSVOptions{}), "\ufeffa\n", `[["a"]]`},
		{"csv header keeps order", header, "z,a\n1,2\n", `[{"z":"1","a":"2"}]`},
		{"csv header short and long", header, "a,b\n1\n1,2,3\n", `[{"a":"1"},{"a":"1","b":"2"}]`},
		{"csv header alone", header, "a,b\n", `[]`},
		{"csv blank text", header, "\n\n", `[]`},
		{"xml", xmlParse, `<?xml version="1.0" encoding="euc-kr"?><r a="1" b="&lt;"> x <c/>y<![CDATA[ <z> ]]></r><!-- c -->`,
			`{"tag":"r","attrs":{"a":"1","b":"<"},"text":"x y <z>","children":[{"tag":"c","attrs":{},"text":"","children":[]}]}`},
		{"xml prefixes", xmlParse, `<a:r xmlns:a="urn:x"><a:c a:k="v">1</a:c></a:r>`,
			`{"tag":"a:r","attrs":{"xmlns:a":"urn:x"},"text":"","children":[{"tag":"a:c","attrs":{"a:k":"v"},"text":"1","children":[]}]}`},
		{"xml own text only", xmlParse, `<r>a<c>b</c>d</r>`,
			`{"tag":"r","attrs":{},"text":"ad","children":[{"tag":"c","attrs":{},"text":"b","children":[]}]}`},
		{"yaml", yamlParse, "z: 1\na: [true, null, ~, 1.5, 0x10, \"2026\", text]\n", `{"z":1,"a":[true,null,null,1.5,16,"2026","text"]}`},
		{"yaml tags of the core schema", yamlParse, "a: !!str 12\nb: 2026-01-02\nc: !!binary aGk=\n", `{"a":"12","b":"2026-01-02","c":"aGk="}`},
		{"yaml alias", yamlParse, "a: &x {k: 1}\nb: *x\n", `{"a":{"k":1},"b":{"k":1}}`},
		{"yaml merge", yamlParse, "d: &d {a: 1, b: 2}\ne: &e {b: 3, c: 4}\nr:\n  a: 9\n  <<: [*d, *e]\n", `{"d":{"a":1,"b":2},"e":{"b":3,"c":4},"r":{"a":9,"b":2,"c":4}}`},
		{"yaml keys as text", yamlParse, "1: a\ntrue: b\nnull: c\n", `{"1":"a","true":"b","null":"c"}`},
		{"yaml scalar", yamlParse, "just text", `"just text"`},
		{"yaml comment alone", yamlParse, "# nothing\n", `null`},
		{"yaml norway", yamlParse, "country: no", `{"country":"no"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fail := tt.parse(tt.in)
			if fail != nil {
				t.Fatal(fail)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		prev := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+prev+",", 10), ",") + "]\n"
	}
	merges := "a0: &a0 {x: 1, y: 2}\n"
	for i := range 40 {
		n, p := "a"+string(rune('A'+i)), "a0"
		if i > 0 {
			p = "a" + string(rune('A'+i-1))
		}
		merges += n + ": &" + n + " {<<: [*" + p + ", *" + p + "], k" + n + ": 1}\n"
	}
	header := csv(CSVOptions{Header: true})
	tests := []struct {
		name   string
		parse  parse
		in     string
		code   fault.Code
		reason string
	}{
		{"csv missing", csv(CSVOptions{}), "", fault.InvalidInput, MissingInput},
		{"csv large", csv(CSVOptions{}), strings.Repeat("a", MaxInput+1), fault.InvalidInput, InputTooLarge},
		{"csv not UTF-8", csv(CSVOptions{}), "a\xff", fault.HelperRuntime, ParseFailed},
		{"csv open quote", csv(CSVOptions{}), "a,\"b\n", fault.HelperRuntime, ParseFailed},
		{"csv after quote", csv(CSVOptions{}), "\"a\"b\n", fault.HelperRuntime, ParseFailed},
		{"csv header twice", header, "a,a\n1,2\n", fault.HelperRuntime, ParseFailed},
		{"csv delimiter", csv(CSVOptions{Delimiter: `"`}), "a", fault.InvalidInput, InvalidOption},
		{"csv long header, many rows", header, strings.Repeat("h", 1<<20) + "\n" + strings.Repeat("1\n", 1000), fault.HelperRuntime, ResultTooLarge},
		{"csv many names", header, strings.Join(numbered(maxColumns+1), ","), fault.HelperRuntime, ParseFailed},
		{"xml missing", xmlParse, "", fault.InvalidInput, MissingInput},
		{"xml doctype", xmlParse, `<!DOCTYPE r><r/>`, fault.HelperRuntime, ParseFailed},
		{"xml external entity", xmlParse, `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>`, fault.HelperRuntime, ParseFailed},
		{"xml doctype inside", xmlParse, `<r><!DOCTYPE x></r>`, fault.HelperRuntime, ParseFailed},
		{"xml unknown entity", xmlParse, `<r>&nbsp;</r>`, fault.HelperRuntime, ParseFailed},
		{"xml tags cross", xmlParse, `<a><b></a></b>`, fault.HelperRuntime, ParseFailed},
		{"xml prefix differs", xmlParse, `<p:a></q:a>`, fault.HelperRuntime, ParseFailed},
		{"xml open", xmlParse, `<a><b></b>`, fault.HelperRuntime, ParseFailed},
		{"xml two roots", xmlParse, `<a/><b/>`, fault.HelperRuntime, ParseFailed},
		{"xml text outside", xmlParse, `x<a/>`, fault.HelperRuntime, ParseFailed},
		{"xml no root", xmlParse, ` <!-- --> `, fault.HelperRuntime, ParseFailed},
		{"xml attribute twice", xmlParse, `<a k="1" k="2"/>`, fault.HelperRuntime, ParseFailed},
		{"xml deep", xmlParse, strings.Repeat("<a>", 300) + strings.Repeat("</a>", 300), fault.HelperRuntime, ParseFailed},
		{"xml wide", xmlParse, "<r>" + strings.Repeat("<a/>", maxElements) + "</r>", fault.HelperRuntime, ParseFailed},
		{"yaml missing", yamlParse, "", fault.InvalidInput, MissingInput},
		{"yaml class tag", yamlParse, "!!javax.script.ScriptEngineManager [1]", fault.HelperRuntime, ParseFailed},
		{"yaml custom scalar tag", yamlParse, "a: !env HOME", fault.HelperRuntime, ParseFailed},
		{"yaml python tag", yamlParse, "!!python/object/apply:os.system ['id']", fault.HelperRuntime, ParseFailed},
		{"yaml set", yamlParse, "!!set {a, b}", fault.HelperRuntime, ParseFailed},
		{"yaml duplicate", yamlParse, "a: 1\na: 2", fault.HelperRuntime, ParseFailed},
		{"yaml duplicate as text", yamlParse, "1: a\n\"1\": b", fault.HelperRuntime, ParseFailed},
		{"yaml complex key", yamlParse, "? [a]\n: b", fault.HelperRuntime, ParseFailed},
		{"yaml bomb", yamlParse, bomb, fault.HelperRuntime, ParseFailed},
		{"yaml merge bomb", yamlParse, merges, fault.HelperRuntime, ParseFailed},
		{"yaml cycle", yamlParse, "a: &a [*a]", fault.HelperRuntime, ParseFailed},
		{"yaml merge cycle", yamlParse, "a: &a {<<: *a}", fault.HelperRuntime, ParseFailed},
		{"yaml infinity", yamlParse, "a: .inf", fault.HelperRuntime, ParseFailed},
		{"yaml two documents", yamlParse, "a: 1\n---\nb: 2\n", fault.HelperRuntime, ParseFailed},
		{"yaml syntax", yamlParse, "a: [", fault.HelperRuntime, ParseFailed},
		{"yaml deep", yamlParse, strings.Repeat("[", 400) + strings.Repeat("]", 400), fault.HelperRuntime, ParseFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fail := tt.parse(tt.in)
			if fail == nil {
				t.Fatalf("accepted: %.100s", got)
			}
			if got != nil {
				t.Error("a result beside the failure")
			}
			if fail.Code != string(tt.code) || fail.Reason != tt.reason || fail.Helper != Helper || len(fail.Message) > 300 {
				t.Errorf("failure %+v, want %s %s", fail, tt.code, tt.reason)
			}
		})
	}
}

func TestEndedCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, f := range map[string]parse{
		"csv":  func(s string) (json.RawMessage, *worker.Failure) { return CSV(ctx, s, CSVOptions{}) },
		"xml":  func(s string) (json.RawMessage, *worker.Failure) { return XML(ctx, s) },
		"yaml": func(s string) (json.RawMessage, *worker.Failure) { return YAML(ctx, s) },
	} {
		if _, fail := f("a"); fail == nil || fail.Reason != Interrupted {
			t.Errorf("%s: %v", name, fail)
		}
	}
}

// endsSoon is a context that ends after it was asked once.
type endsSoon struct {
	context.Context
	asked int
}

func (c *endsSoon) Err() error {
	if c.asked++; c.asked > 1 {
		return context.Canceled
	}
	return nil
}

// TestEndedWithinARecord: one record can be the whole text, and reading it is
// given up with the call, whether its fields are wanted or not.
func TestEndedWithinARecord(t *testing.T) {
	for name, tc := range map[string]struct {
		opts CSVOptions
		text string
	}{
		"wanted":            {CSVOptions{}, strings.Repeat(",", MaxInput)},
		"beyond the header": {CSVOptions{Header: true}, "a\n" + strings.Repeat(",", MaxInput-2)},
		"of the header":     {CSVOptions{Header: true}, strings.Join(numbered(maxColumns), ",")},
	} {
		ctx := &endsSoon{Context: context.Background()}
		if _, fail := CSV(ctx, tc.text, tc.opts); fail == nil || fail.Reason != Interrupted || ctx.asked > 2 {
			t.Errorf("%s: %v, asked %d times", name, fail, ctx.asked)
		}
	}
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func fuzz(f *testing.F, p parse, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, fail := p(in)
		if (out == nil) == (fail == nil) {
			t.Fatalf("result %q and failure %v", out, fail)
		}
		if fail == nil && !json.Valid(out) {
			t.Fatalf("%q became invalid JSON: %q", in, out)
		}
		if fail != nil && fail.Message == "[safety.parser] the text cannot be read" {
			t.Fatalf("%q makes the reader panic", in)
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzz(f, csv(CSVOptions{Header: true}), "a,b\n1,\"2\"\n", "\"a\"\"b\" ,c\r\n", "\ufeff\n\r", strings.Repeat(",", 50000), "a\n"+strings.Repeat("1,", 50000))
}

func FuzzXML(f *testing.F) {
	fuzz(f, xmlParse, `<r a="1">x<c/></r>`, `<!DOCTYPE r>`, `<?xml version="1.0" encoding="x"?><a:b xmlns:a="u"/>`)
}

func FuzzYAML(f *testing.F) {
	fuzz(f, yamlParse, "a: &x [1, *x]", "<<: {a: 1}", "!!binary aGk=", "? a\n: b\n", "- - 1\n- ~", "a: !!int x")
}
