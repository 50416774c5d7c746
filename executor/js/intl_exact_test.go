package js

import (
	"strings"
	"testing"
)

// TestNumberTexts holds that the digits of a text are formatted as they are,
// also where a double could not hold them.
func TestNumberTexts(t *testing.T) {
	want := map[string]string{
		"12345678901234567890":                  "12,345,678,901,234,567,890 1.234.567.890.123.456.789.000 %",
		"+12345678901234567890":                 "12,345,678,901,234,567,890 1.234.567.890.123.456.789.000 %",
		"-12345678901234567890.123456789012345": "-12,345,678,901,234,567,890.123456789012345 -1.234.567.890.123.456.789.012 %",
		"0.1234567890123456789":                 "0.1234567890123456789 12 %",
		"9007199254740993.5":                    "9,007,199,254,740,993.5 900.719.925.474.099.350 %",
		"00012345678901234567890":               "12,345,678,901,234,567,890 1.234.567.890.123.456.789.000 %",
		"12345678901234567890.":                 "12,345,678,901,234,567,890 1.234.567.890.123.456.789.000 %",
		" 12 ":                                  "12 1.200 %",
		"007":                                   "7 700 %",
		"-0":                                    "-0 -0 %",
		"-0.00000000000000000":                  "-0 -0 %",
		"":                                      "0 0 %",
		"abc":                                   "NaN NaN %",
		"1e3":                                   "1,000 100.000 %",
		"1e400":                                 "∞ ∞ %",
		"0x10":                                  "16 1.600 %",
		"1_0":                                   "NaN NaN %",
		"Infinity":                              "∞ ∞ %",
		"-Infinity":                             "-∞ -∞ %",
		strings.Repeat("9", maxDecimal+1) + "abc": "NaN NaN %",
	}
	var in, out []string
	for text, w := range want {
		in, out = append(in, text), append(out, strings.ReplaceAll(w, " %", "\u00a0%"))
	}
	got := outcome(run(t, `const en = new Intl.NumberFormat("en", { maximumFractionDigits: 20 }), de = new Intl.NumberFormat("de", { style: "percent" });
		return list.map(s => en.format(s) + " " + de.format(s))`, mustJSON(map[string]any{"list": in})))
	if w := mustJSON(out); got != w {
		t.Errorf("of %q\ngot  %s\nwant %s", in, got, w)
	}
}
