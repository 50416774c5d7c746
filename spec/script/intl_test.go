package script

import (
	"strings"
	"testing"
)

// TestLocalesAtLoad holds which literals of locales, options and classes of
// Intl are refused before the code runs, and which the code is ready for.
func TestLocalesAtLoad(t *testing.T) {
	for _, tc := range []struct {
		code string
		line int    // 0 = accepted
		says string // a part of the message
	}{
		{`return a.localeCompare(b, "zh")`, 1, "the locale zh is not supported for comparing; known are ar, bg"},
		{"\nreturn a?.localeCompare(b, ['zh-Hans'])", 2, "zh-Hans"},
		{"return l.sort((x, y) =>\n x.localeCompare(y, `sr-Latn`))", 2, "sr-Latn"},
		{`return a.localeCompare(b, "not a locale")`, 1, "Incorrect locale information"},
		{`return a.localeCompare(b, "de-u-co-phonebk")`, 1, "phonebk"},
		{`return a.localeCompare(b, "de_DE")`, 1, "Incorrect locale information"},
		{`return a.localeCompare(b, "root")`, 1, "Incorrect locale information"},
		{`return a.localeCompare(b, "en-GB-oed")`, 1, "Incorrect locale information"},
		{`return a.localeCompare(b, "default")`, 1, "the locale default is not supported"},
		{`return a.localeCompare(b, "DE-latn-1996") + a.localeCompare(b, "es-419")`, 0, ""},
		{`return a.localeCompare(b, "de-AT")`, 0, ""},
		{`return a.localeCompare(b, ["pt-BR", "zh"])`, 0, ""},
		{`return a.localeCompare(b, [])`, 0, ""},
		{`return a.localeCompare(b, locale)`, 0, ""},
		{`return a.localeCompare(...b, "zh")`, 0, ""},
		{`return a.localeCompare(b, undefined, { numeric: true, sensitivity: "base", usage: "sort", caseFirst: "false", ignorePunctuation: false })`, 0, ""},
		{"return a.localeCompare(b, 'de', {\nusage: 'search' })", 2, "the value search is not supported for the option usage; known are sort"},
		{`return a.localeCompare(b, "de", { caseFirst: "upper" })`, 1, "caseFirst"},
		{`return a.localeCompare(b, "de", { "ignorePunctuation": true })`, 1, "ignorePunctuation"},
		{`return a.localeCompare(b, "de", { ignorePunctuation: x, sensitivity })`, 0, ""},
		{`return a.localeCompare(b, "de", { sensitivity: "all" })`, 1, "known are base, accent, case, variant"},
		{`try { return a.localeCompare(b, "zh") } catch { return a < b ? -1 : 1 }`, 0, ""},
		{`try { f() } catch { return a.localeCompare(b, "zh") }`, 1, "zh"},
		{`try { return a.localeCompare(b, "zh") } finally { f() }`, 1, "zh"},
		{`try { return a.localeCompare(b, "zh") } catch { return 0 } finally { f() }`, 0, ""},
		{`class A { localeCompare() { return 1 } } return new A().localeCompare(1, "zh")`, 0, ""},
		{`const a = { localeCompare: () => 1 }; return a.localeCompare(1, "zh")`, 0, ""},

		{`return new Intl.DateTimeFormat("es").format(d)`, 1, "the locale es is not supported; use en-US"},
		{`return Intl.NumberFormat("xx").format(1)`, 1, "xx"},
		{`return new globalThis.Intl["NumberFormat"](["xx", "en"]).format(1)`, 1, "xx"},
		{`return (1).toLocaleString("es-ES")`, 1, "es-ES"},
		{`return d.toLocaleDateString("es") + d.toLocaleTimeString("en")`, 1, "es"},
		{`return d.toLocaleTimeString("es")`, 1, "es"},
		{`return [(1).toLocaleString("EN-us"), (1).toLocaleString(), d.toLocaleDateString(undefined), d.toLocaleTimeString([]), n.toLocaleString(l)]`, 0, ""},
		{`return "abc".toLocaleString("es")`, 0, ""},
		{`return Intl.NumberFormat.supportedLocalesOf(["es"])`, 0, ""},
		{`const Intl = own; return new Intl.NumberFormat("es")`, 0, ""},
		{`return n.toLocaleString("en", { notation: "compact" })`, 1, "notation"},
		{`return n.toLocaleString("en", { style: "unit", unit: "mile" })`, 1, "style"},
		{`return new Intl.NumberFormat("en", { roundingIncrement: 5 })`, 1, "roundingIncrement"},
		{`return new Intl.DateTimeFormat("en", { era: "short" })`, 1, "the option era is not supported"},
		{`return new Intl.DateTimeFormat("en", { style: "unit", weekday: "long" })`, 0, ""},
		{`return new Intl.NumberFormat("en", { era: "short", useGrouping: 0, roundingIncrement: 1 })`, 0, ""},
		{`return d.toLocaleString("en", { numberingSystem: "arab" })`, 1, "numberingSystem"},
		{`try { return new Intl.NumberFormat("es").format(1) } catch { return "1" }`, 0, ""},

		{`return new Intl.Collator("de").compare(a, b)`, 1, "Intl.Collator does not exist on this runtime, which has DateTimeFormat and NumberFormat: use localeCompare"},
		{"return [\nIntl.PluralRules]", 2, "PluralRules"},
		{`return Intl?.["RelativeTimeFormat"]`, 1, "RelativeTimeFormat"},
		{`return Intl.getCanonicalLocales("EN-us")`, 1, "getCanonicalLocales"},
		{`const { ListFormat } = Intl; return new ListFormat()`, 1, "ListFormat"},
		{`const { NumberFormat, Segmenter = null } = Intl; return Segmenter`, 0, ""},
		{`if (typeof Intl !== "undefined") return new Intl.Segmenter()`, 1, "Segmenter"},
		{`if (typeof Intl.Segmenter === "function") return new Intl.Segmenter()`, 0, ""},
		{`if (typeof Intl.Segmenter === "function") return new Intl.Collator()`, 1, "Collator"},
		{`if (Intl.Segmenter) return new Intl.Segmenter()`, 0, ""},
		{`if (a && Intl?.Segmenter) return new Intl.Segmenter()`, 0, ""},
		{`return Intl.Segmenter ? new Intl.Segmenter() : null`, 0, ""},
		{`return Intl?.Segmenter && new Intl.Segmenter()`, 0, ""},
		{`if (!Intl.Segmenter) return 1; return new Intl.Segmenter()`, 0, ""},
		{`if (Intl.Segmenter === undefined) return 1; return new Intl.Segmenter()`, 0, ""},
		{`return "Segmenter" in Intl && new Intl.Segmenter()`, 0, ""},
		{`return Intl.Segmenter?.supportedLocalesOf("en")`, 0, ""},
		{`Intl.Segmenter = class {}; return new Intl.Segmenter()`, 0, ""},
		{`try { return new Intl.Segmenter() } catch { return 1 }`, 0, ""},
		{`return (Intl => new Intl.Segmenter())(x)`, 0, ""},
		{`return [Intl.format === undefined, Object.keys(Intl), Intl.toString()]`, 0, ""},

		{`const o = {}; Object.defineProperty(o, "localeCompare", { value: (a, b) => b }); return o.localeCompare("x", "zh")`, 0, ""},
		{`return a["localeCompare"](b, "zh")`, 1, "zh"},
		{`return d?.["toLocaleString"]?.("es")`, 1, "es"},
		{`return f["to" + x]("es")`, 0, ""},
		{`if (!Intl.NumberFormat.supportedLocalesOf("es").length) return 1; return (2).toLocaleString("es")`, 0, ""},
		{`if (!Intl.NumberFormat.supportedLocalesOf("es").length) return 1; return a.localeCompare(b, "zh")`, 1, "zh"},
		{`return new Intl.NumberFormat("en", { style: "unit", ...o })`, 0, ""},
		{`return new Intl.NumberFormat("en", { ...o, style: "unit" })`, 1, "unit"},
		{`return new Intl.NumberFormat("en", { style: "unit", style: "decimal" })`, 0, ""},
		{`return new Intl.NumberFormat("en", { style: "decimal", style: "unit" })`, 1, "unit"},
		{`return new Intl.NumberFormat("en", { style: "unit", [k]: "percent" })`, 0, ""},
		{`return new Intl.NumberFormat("en", { style: "unit", style })`, 0, ""},
		{`const S = Intl.Segmenter; return S ? new S() : null`, 0, ""},
		{`const S = globalThis.Intl?.Segmenter; if (!S) return 1; return new S()`, 0, ""},
		{`let S = null; if (typeof Intl !== "undefined") S = Intl.Segmenter; return S && new S()`, 0, ""},
		{`const S = Intl.Segmenter; return new S()`, 1, "Segmenter"},
		{`const S = Intl.Segmenter, T = 1; return T ? new S() : null`, 1, "Segmenter"},
		{`const { Segmenter } = Intl; if (!Segmenter) return 1; return new Segmenter()`, 0, ""},
		{`const { Segmenter: S } = Intl; return S?.supportedLocalesOf("en")`, 0, ""},
		{`const { Segmenter: S } = Intl; return new S()`, 1, "Segmenter"},
		{`let S; ({ Segmenter: S } = Intl); return new S()`, 1, "Segmenter"},
		{`const { Segmenter: S = null } = Intl; return S`, 0, ""},
		{`const has = Boolean(Intl.Segmenter); return has && new Intl.Segmenter()`, 0, ""},
		{`if (Reflect.has(Intl, "Segmenter")) return new Intl.Segmenter()`, 0, ""},
		{`if (Intl.hasOwnProperty("Segmenter")) return new Intl.Segmenter()`, 0, ""},
		{`if (Object.keys(Intl).includes("Segmenter")) return new Intl.Segmenter()`, 0, ""},
		{`if (Reflect.has(Intl, "Collator")) return new Intl.Segmenter()`, 1, "Segmenter"},
		{`console.log("Segmenter"); return new Intl.Segmenter()`, 1, "Segmenter"},
	} {
		found := Check(tc.code)
		switch {
		case tc.line == 0:
			if len(found) > 0 {
				t.Errorf("%s: %+v, want nothing", tc.code, found)
			}
		case len(found) != 1 || found[0].Line != tc.line || found[0].Reason != "code-syntax" || !strings.Contains(found[0].Message, tc.says):
			t.Errorf("%s: %+v, want line %d and %q", tc.code, found, tc.line, tc.says)
		}
	}
}
