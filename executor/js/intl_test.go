package js

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestIntl compares with what node gives, see intldata/cases.mjs. A case that
// is refused with a RangeError where node has a text is counted: it is a gap,
// and no wrong answer.
func TestIntl(t *testing.T) {
	b, err := os.ReadFile("testdata/intl.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	got := batches(t, list, `return cases.map(c => {
			const v = typeof c.value !== "string" ? c.value : c.value.endsWith("n") ? BigInt(c.value.slice(0, -1)) : Number(c.value);
			const o = c.options;
			const text = parts => parts.map(p => p.type + "=" + p.value).join("|");
			try {
				switch (c.kind) {
				case "date": return new Intl.DateTimeFormat(c.locale, o).format(v);
				case "parts": return text(new Intl.DateTimeFormat(c.locale, o).formatToParts(v));
				case "resolved": return JSON.stringify(new Intl.DateTimeFormat(c.locale, o).resolvedOptions());
				case "number": return new Intl.NumberFormat(c.locale, o).format(v);
				case "numberParts": return text(new Intl.NumberFormat(c.locale, o).formatToParts(v));
				case "numberToLocale": return v.toLocaleString(c.locale);
				default: return new Date(v)[c.kind](c.locale);
				}
			} catch (e) { return e.name }
		})`)
	refused, bad := 0, 0
	for i, c := range list {
		c := c.(map[string]any)
		want := c["want"].(string)
		switch {
		case got[i] == want:
		case got[i] == "RangeError":
			refused++
		default:
			if bad++; bad <= 40 {
				t.Errorf("%s %s %v of %v\ngot  %s\nwant %s", c["kind"], c["locale"], c["options"], fmt.Sprint(c["value"]), got[i], want)
			}
		}
	}
	t.Logf("%d cases, %d refused, %d wrong", len(list), refused, bad)
	if refused*100 > len(list) {
		t.Errorf("%d of %d cases are refused", refused, len(list))
	}
}

// TestIntlWithoutNew: both classes may be called as functions.
func TestIntlWithoutNew(t *testing.T) {
	for body, want := range map[string]string{
		`return [typeof Intl.DateTimeFormat().resolvedOptions().timeZone, Object.keys(Intl).length, Intl.format === undefined]`:                                                                                            `["string",0,true]`,
		`const { NumberFormat } = Intl; return [Intl.NumberFormat("en").format(1234.5), NumberFormat("de").format(1234.5)]`:                                                                                                `["1,234.5","1.234,5"]`,
		`return [Intl.NumberFormat("en") instanceof Intl.NumberFormat, new Intl.DateTimeFormat("en") instanceof Intl.DateTimeFormat, new (class X extends Intl.NumberFormat { y() { return this.format(1) } })("en").y()]`: `[true,true,"1"]`,
	} {
		if got := outcome(run(t, body, `{}`)); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}
