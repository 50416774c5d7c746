package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// oddValues are of every type that JSON has, some at the edge of one.
var oddValues = []string{
	`null`, `true`, `"x"`, `"\u00e9 \ud83d\ude00"`, `"é"`, `""`, `-1.5e3`, `[1,-2,3.5e1,{"a":null}]`, `"a\\\"b\\"`, `0`, `-1`, `1.5`, `1e400`, `123456789012345678901234567890`,
	`[]`, `[1]`, `["x"]`, `[null]`, `[[1]]`, `[{}]`, `[{"id":1}]`, `{}`, `{"a":[{"b":"]}"}]}`, `{"subject":[1]}`, `{"Subject":1}`,
}

// values gives where each value in a JSON text begins and ends, the text
// itself last.
func values(t testing.TB, text []byte) (out [][2]int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	var walk func()
	walk = func() {
		before := int(d.InputOffset())
		tok, err := d.Token()
		must(t, err)
		from := before + len(text[before:]) - len(bytes.TrimLeft(text[before:], ",:"))
		if k, ok := tok.(json.Delim); ok {
			for d.More() {
				if k == '{' {
					_, err := d.Token()
					must(t, err)
				}
				walk()
			}
			_, err := d.Token()
			must(t, err)
		}
		out = append(out, [2]int{from, int(d.InputOffset())})
	}
	walk()
	return out
}

// TestReads puts values of every type in the place of each value of a log: a
// line is a record where the decoder reads it as one, and verify names every
// other.
func TestReads(t *testing.T) {
	for _, line := range bytes.Split(bytes.TrimSuffix(sampleLog(t), []byte("\n")), []byte("\n")) {
		if g := (glance{rest: line}); !g.value(recordShape) || len(g.rest) > 0 {
			t.Errorf("a line of the writer is not known at a glance, up to %.80s", g.rest)
		}
		for i, at := range values(t, line) {
			if testing.Short() && i%4 != 0 {
				continue
			}
			for _, odd := range oddValues {
				bad := slices.Concat(line[:at[0]], []byte(odd), line[at[1]:])
				want := json.Unmarshal(bad, new(Record)) == nil
				if valid, got := readable(bad); got != want || !valid {
					t.Errorf("reads %v, decodes %v: %s", got, want, bad)
				}
			}
		}
	}
}

// TestReadableFlips: what is no JSON is never taken for a record at a glance.
// Each byte becomes each of those that mean something, and some become any.
func TestReadableFlips(t *testing.T) {
	log := sampleLog(t)
	line := slices.Clone(log[:bytes.IndexByte(log, '\n')])
	telling := []byte("\"\\{}[]:,-+.019eEtrufalsn \t\n\x00\x1f\x7f\x80\xc3\xff")
	every := make([]byte, 256)
	for c := range every {
		every[c] = byte(c)
	}
	for i, was := range line {
		if testing.Short() && i%16 != 5 && i > 64 {
			continue
		}
		flips := telling
		if i%64 == 0 {
			flips = every
		}
		for _, c := range flips {
			line[i] = c
			if valid, reads := readable(line); valid != isJSON(line) || reads != (valid && json.Unmarshal(line, new(Record)) == nil) {
				t.Fatalf("JSON %v, a record %v: %q", valid, reads, line)
			}
		}
		line[i] = was
		if valid, _ := readable(line[:i]); valid {
			t.Fatalf("the first %d bytes are no value", i)
		}
	}
}

// TestVerifyTypes: a line that holds in itself, and that nothing can read, is
// named, since everything else stops at it.
func TestVerifyTypes(t *testing.T) {
	lines := bytes.SplitAfter(sampleLog(t), []byte("\n"))
	for from, to := range map[string]string{
		`"bytes":17`:                     `"bytes":"17"`,
		`"groups":["ops"]`:               `"groups":[["ops"]]`,
		`"outcome":"ERROR"`:              `"outcome":{}`,
		`"durationMs":{"decide":0.123,`:  `"durationMs":{"decide":"0",`,
		`"riskSignals":[`:                `"riskSignals":[1,`,
		`"humanInTheLoop":{"mode":"REQU`: `"humanInTheLoop":{"mode":1,"x":"REQU`,
	} {
		body, _, _ := strings.Cut(string(lines[2]), `,"sum":"`)
		if !strings.Contains(body, from) {
			t.Fatalf("no %s in %s", from, body)
		}
		bad := append(appendSum([]byte(strings.Replace(body, from, to, 1)), 0), '\n')
		r := inspect(t, slices.Concat(lines[0], lines[1], bad))
		if len(r.Findings) != 1 || r.Findings[0].Kind != KindSchema || r.Findings[0].Line != 3 {
			t.Errorf("%s: %+v", to, r.Findings)
		}
	}
}
