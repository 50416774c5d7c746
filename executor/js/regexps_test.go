package js

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/spec/script"
)

// TestRegexpsOfGrammar holds that an expression gives what the reference
// engine gives or is refused. regexps.mjs makes the list.
func TestRegexpsOfGrammar(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "probes", "regexps.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows, runs []json.RawMessage // as they stand, with lone surrogates
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	refused, shown := 0, 0
	for _, line := range rows {
		var row []any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		_, msg := script.Pattern(row[0].(string), row[1].(string))
		switch {
		case msg != "":
			if row[3] != nil {
				refused++
			}
		case row[3] != nil:
			runs = append(runs, line)
		}
	}
	t.Logf("%d of %d refused", refused, len(rows))
	if refused*100 > 22*len(rows) {
		t.Errorf("%d of %d are refused", refused, len(rows))
	}
	if testing.Short() {
		runs = runs[:200]
	}
	for len(runs) > 0 {
		part := runs[:min(200, len(runs))]
		runs = runs[len(part):]
		// The expressions pass through a string of JSON, as literals do not.
		list, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(string(list))
		code := `const bad = [];
for (const [pattern, flags, text, want] of JSON.parse(` + string(quoted) + `)) {
  let got;
  try {
    const re = new RegExp(pattern, flags), m = re.exec(text);
    const all = [...text.matchAll(new RegExp(pattern, flags + "g"))];
    got = [m && [m.index, ...m.map((x) => x ?? null)], all.map((m) => m.index + ":" + m.map((x) => x ?? "~").join("|")).join(";")];
  } catch (e) { got = String(e); }
  if (JSON.stringify(got) !== JSON.stringify(want)) bad.push(JSON.stringify([pattern, flags, text, want, got]));
}
return bad;`
		rep := probeCall(shared, code)
		if rep.Failure != nil {
			t.Fatalf("%s", outcome(rep))
		}
		var bad []string
		if err := json.Unmarshal(rep.Result, &bad); err != nil {
			t.Fatal(err)
		}
		for _, b := range bad {
			if shown++; shown <= 400 {
				t.Error(strings.ToValidUTF8(b, "?"))
			}
		}
	}
	if shown > 0 {
		t.Errorf("%d differ", shown)
	}
}
