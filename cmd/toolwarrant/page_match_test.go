package main

import (
	"regexp"
	"strings"
	"testing"
)

// shapes are the texts that differ from one run to the next. A page shows one,
// and any of its shape matches. Where name is set, what the page shows stands
// for what came: the same text in a later command or output is that one.
var shapes = []struct {
	page, came string
	name       bool
}{
	{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`, false},
	{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`, `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`, false},
	{`\d\d:\d\d:\d\d UTC`, `\d\d:\d\d:\d\d UTC`, false},
	{`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, true},
	{`[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]*\.\.\.`, `[0-9A-Za-z_-]+(?:\.\.\.|…)?`, true}, // an abbreviated id or digest
	{`\b[a-z]{4,}[2-7][a-z2-7]{4,}\b`, `[a-z2-7]+`, true},                            // an id in base 32
	{`uid:\d+`, `uid:\d+`, false},
	{`\.\.\.`, `.*`, false},
	{` {2,}`, ` {2,}`, false}, // columns are as wide as what is in them
}

var anyShape = func() *regexp.Regexp {
	var all []string
	for _, s := range shapes {
		all = append(all, "("+s.page+")")
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

// outputMatches holds what came against what a page shows. A line that is
// "..." alone stands for any number of lines. names is read and added to: what
// stands in the page, and what it was in this run.
func outputMatches(page, came string, names map[string]string) bool {
	var pattern strings.Builder
	var shown []string
	pattern.WriteString(`^`)
	for _, line := range strings.Split(page, "\n") {
		line = strings.TrimRight(line, " ")
		if strings.TrimSpace(line) == "..." {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for line != "" {
			m := anyShape.FindStringSubmatchIndex(line)
			if m == nil {
				break
			}
			pattern.WriteString(regexp.QuoteMeta(line[:m[0]]))
			text, shape := line[m[0]:m[1]], 0
			for m[2+2*shape] < 0 {
				shape++
			}
			switch known, was := names[text]; {
			case was:
				pattern.WriteString(regexp.QuoteMeta(known))
			case shapes[shape].name:
				pattern.WriteString("(" + shapes[shape].came + ")")
				shown = append(shown, text)
			default:
				pattern.WriteString(shapes[shape].came)
			}
			line = line[m[1]:]
		}
		pattern.WriteString(regexp.QuoteMeta(line) + `\n`)
	}
	pattern.WriteString(`$`)
	var text strings.Builder
	for _, line := range strings.Split(strings.Trim(came, "\n"), "\n") {
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	m := regexp.MustCompile(pattern.String()).FindStringSubmatch(text.String())
	if m == nil {
		return false
	}
	for i, name := range shown {
		if _, was := names[name]; !was {
			names[name] = m[i+1]
		}
	}
	return true
}

func TestOutputMatches(t *testing.T) {
	const id = "01a221a1-2a23-72e0-9356-1d0a8555e47f"
	for _, c := range []struct {
		name, page, came string
		want             bool
	}{
		{"the same", "a\nb", "a\nb\n", true},
		{"another", "a\nb", "a\nc\n", false},
		{"a line more", "a", "a\nb\n", false},
		{"a line less", "a\nb", "a\n", false},
		{"lines left out", "a\n...\nd", "a\nb\nc\nd\n", true},
		{"no lines left out", "a\n...\nd", "a\nd\n", true},
		{"lines at the end", "a\n...", "a\nb\n", true},
		{"lines at the begin", "...\nb", "a\nb", true},
		{"lines left out, and another", "a\n...\nd", "a\nb\nc\n", false},
		{"a part of a line", `{"a":1,...}`, `{"a":1,"b":2}`, true},
		{"a part stays in its line", "a...b", "a\nb", false},
		{"times", "at 2026-11-28T10:00:00Z", "at 2027-01-02T03:04:05.123+01:00", true},
		{"no time", "at 2026-11-28T10:00:00Z", "at noon", false},
		{"digests", "head sha256:5c1f...", "head sha256:0123456789abcdef", true},
		{"one id, twice", "4k2p... asked\n4k2p... is in", "abc7 asked\nabc7 is in", true},
		{"columns", "a    b", "a  b", true},
		{"columns that are none", "a    b", "a b", false},
		{"who", "uid:1000", "uid:0", true},
		{"an id", "call " + id, "call " + strings.Replace(id, "0", "1", 1), true},
		{"no pattern", "a.c (x)*", "abc (x)*", false},
	} {
		if got := outputMatches(c.page, c.came, map[string]string{}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	names := map[string]string{}
	if !outputMatches("pkik3p... waits", "abcdefg2 waits", names) || names["pkik3p..."] != "abcdefg2" {
		t.Errorf("%v", names)
	}
	if outputMatches("pkik3p...: accepted", "another2: accepted", names) || !outputMatches("pkik3p...: accepted", "abcdefg2: accepted", names) {
		t.Error("an id stands for another one later on")
	}
}
