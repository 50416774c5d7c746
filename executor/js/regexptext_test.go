package js

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// TestRegexpTexts holds that methods of text with an expression give what the
// reference engine gives, or that the expression is refused. regexptexts.mjs
// makes the list, and has the same function run.
func TestRegexpTexts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "probes", "regexptexts.json"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("testdata", "probes", "regexptexts.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	_, run, _ := strings.Cut(string(source), "const run =")
	run, _, _ = strings.Cut(run, "const rows =")
	var rows, runs []json.RawMessage
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, line := range rows {
		var row []any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if _, msg := script.Pattern(row[0].(string), row[1].(string)); msg == "" {
			runs = append(runs, line)
		}
	}
	t.Logf("%d of %d refused", len(rows)-len(runs), len(rows))
	if len(runs)*100 < 80*len(rows) {
		t.Errorf("only %d of %d run", len(runs), len(rows))
	}
	if testing.Short() {
		runs = runs[:400]
	}
	different := 0
	for len(runs) > 0 {
		part := runs[:min(200, len(runs))]
		runs = runs[len(part):]
		list, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(string(list))
		rep := probeCall(shared, "const run ="+run+`const bad = [];
for (const [pattern, flags, text, op, arg, want] of JSON.parse(`+string(quoted)+`)) {
  let got;
  try { got = run(pattern, flags, text, op, arg); } catch (e) { got = String(e); }
  if (JSON.stringify(got) !== JSON.stringify(want)) bad.push(JSON.stringify([pattern, flags, text, op, arg, want, got]));
}
return bad;`)
		if rep.Failure != nil {
			t.Fatalf("%s", outcome(rep))
		}
		var bad []string
		if err := json.Unmarshal(rep.Result, &bad); err != nil {
			t.Fatal(err)
		}
		for _, b := range bad {
			if different++; different <= 40 {
				t.Error(strings.ToValidUTF8(b, "?"))
			}
		}
	}
	if different > 0 {
		t.Errorf("%d differ", different)
	}
}

// TestRegexpTextsOfLiterals is the same for expressions that stand in the code.
func TestRegexpTextsOfLiterals(t *testing.T) {
	for code, want := range map[string]string{
		`'aaa'.replace(/a*/g,'x')`:              `"xx"`,
		`'a.b'.match(/[^.]*/g)`:                 `["a","","b",""]`,
		`'abc'.replace(/b*/g,'-')`:              `"-a--c-"`,
		`'é a b'.replace(/(?=\w)\w/u,'_')`:      `"é _ b"`,
		`'é a'.replace(/a/y,'_')`:               `"é a"`,
		`'one  two'.split(/ *(?=t)/)`:           `["one","two"]`,
		`'foo bar'.split(/\s*\b\s*/)`:           `["foo","bar"]`,
		`'é a'.split(/ */)`:                     `["é","a"]`,
		`'a1b2'.replace(/(?<d>\d)?/g,'<$<d>>')`: `"<>a<1><>b<2><>"`,
	} {
		rep := probeCall(shared, "return "+code)
		if rep.Failure != nil {
			t.Errorf("%s: %s", code, outcome(rep))
		} else if string(rep.Result) != want {
			t.Errorf("%s gives %s, want %s", code, rep.Result, want)
		}
	}
}
