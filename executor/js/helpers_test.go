package js

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestHostClasses(t *testing.T) {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: answer(`true`)}}
	for _, tc := range []struct{ body, want string }{
		{`const D = Java.type("java.math.BigDecimal"); return [new D("0.1").add(new D("0.20")), new D("1").divide(new D("3"), 4, "HALF_UP").toString(), new D("2.345").setScale(2, "HALF_EVEN").toPlainString(), new D("1E+3").toString(), new D("1.50").compareTo(new D("1.5")), new D("-1.25").setScale(1, "FLOOR")]`,
			`["0.30","0.3333","2.34","1E+3",0,"-1.3"]`},
		{`const I = Java.type("java.math.BigInteger"); return [I.TWO.pow(100).toString(), new I("ff", 16), I.valueOf(7).mod(I.valueOf(4)), I.TEN.compareTo(I.ONE)]`, `["1267650600228229401496703205376","255","3",1]`},
		{`const S = Java.type("java.lang.StringBuilder"); const s = new S("ab"); s.append("c").append(1).reverse(); return [s.toString(), s.length(), s.charAt(0)]`, `["1cba",4,"1"]`},
		{`const M = Java.type("java.lang.Math"); return [M.max(1, 2), M.floorMod(-1, 3), M.round(2.5)]`, `[2,2,3]`},
		{`const I = Java.type("java.lang.Integer"); return [I.parseInt("12"), I.parseInt("ff", 16), I.toHexString(-1), I.MAX_VALUE]`, `[12,255,"ffffffff",2147483647]`},
		{`Java.type("java.lang.Integer").parseInt("1x")`, `INVALID_INPUT/number-format: [Java.type] java.lang.Integer cannot read "1x"`},
		{`const I = Java.type("java.time.Instant"); return [I.parse("2026-01-15T10:30:00Z").toEpochMilli(), I.ofEpochMilli(1).toString(), I.parse("2026-01-15T10:30:00Z")]`, `[1768473000000,"1970-01-01T00:00:00.001Z","2026-01-15T10:30:00Z"]`},
		{`const U = Java.type("java.util.UUID"); return [U.fromString("123e4567-e89b-12d3-a456-426614174000").toString(), U.nameUUIDFromBytes([104, 105]).version()]`, `["123e4567-e89b-12d3-a456-426614174000",3]`},
		{`return [Java.type("java.util.Base64").getEncoder().encodeToString("hi"), Array.from(Java.type("java.util.Base64").getDecoder().decode("aGk="))]`, `["aGk=",[104,105]]`},
		{`return Java.type("java.math.BigDecimal") === Java.type("java.math.BigDecimal")`, `true`},
		{`const d = Java.type("java.math.BigDecimal"), o = new d("1"); return [d, o].map(x => [typeof x.getClass, typeof x.class, typeof x.forName, typeof o.constructor])`,
			`[["undefined","undefined","undefined","undefined"],["undefined","undefined","undefined","undefined"]]`},
		{`Java.type("java.lang.Runtime")`, "INVALID_INPUT/class-not-implemented: [Java.type] java.lang.Runtime is allowed but does not exist on this runtime; use plain JavaScript, or one of " + classNames()},
		{`Java.type(1)`, "INVALID_INPUT/class-name-required: [Java.type] needs the full name of a class as a string"},
		{`const D = Java.type("java.math.BigDecimal"); D.valueOf("1").add.call({}, D.ONE)`, "JS_ERROR/TypeError: java.math.BigDecimal.add was called on something else"},
		{`const D = Java.type("java.math.BigDecimal"); new D("1e999999999")`, `INVALID_INPUT/number-format: [Java.type] BigDecimal cannot read "1e999999999"`},
	} {
		if got := outcome(runWith(t, b, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
	denied := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: func([]json.RawMessage) worker.BrokerReply {
		return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "class-denied", Helper: "Java.type", Message: "no"}}
	}}}
	if got := outcome(runWith(t, denied, `Java.type("java.lang.Math")`, `{}`)); got != "SECURITY/class-denied: no" {
		t.Error(got)
	}
}

func TestHTML(t *testing.T) {
	const page = `<html><head><title> A  title </title></head><body><nav>menu</nav><div class='main x'><p>One<br>two</p><p>Three <b>bold</b></p><a href='/rel' title='T'>link</a><a href='https://o.example/'>out</a><script>var x</script></div></body></html>`
	for _, tc := range []struct{ body, want string }{
		{`const d = safety.parser.html(page); return [d.title(), d.body().text(), d.select("p").size(), d.select("p").first().text(), d.select("p").get(1).text(), d.select(".none").first()]`,
			`["A title","menu One two Three bold linkout",2,"One two","Three bold",null]`},
		{`const d = safety.parser.html(page); return [d.select("a[href]").first().attr("abs:href"), d.select("a").get(1).attr("abs:href"), d.select("a[title*='T']").attr("title")]`, `["","https://o.example/","T"]`},
		{`return safety.parser.html(page, "https://h.example/x/").select("a").first().attr("abs:href")`, `"https://h.example/rel"`},
		{`const d = safety.parser.html(page); d.select("nav, script").remove(); d.select("p").first().append("<i>!</i>").after("<p>new</p>"); return [d.body().text(), d.select("p").eachText(), d.select("i").html()]`,
			`["One two! new Three bold linkout",["One two!","new","Three bold"],"!"]`},
		{`let n = []; safety.parser.html(page).select("p").each((e, i) => n.push(i + e.tagName())); for (const e of safety.parser.html(page).select("a")) n.push(e.text()); return n`, `["0p","1p","link","out"]`},
		{`safety.parser.html()`, "INVALID_INPUT/missing-input: [safety.parser] html needs the text of a document"},
		{`safety.parser.html("<p>").select("[[")`, `INVALID_INPUT/invalid-selector: [safety.parser] the selector "[[" cannot be read`},
		{`safety.parser.html("<p>").select.call({})`, "INVALID_INPUT/not-an-element: [safety.parser] select was called on something that is not an element"},
		{`return safety.parser.html("<div>".repeat(100000)).title()`, `HELPER_RUNTIME/parse-failed: [safety.parser] the document cannot be parsed: html: open stack of elements exceeds 512 nodes`},
	} {
		body := "const page = " + mustJSON(page) + ";" + tc.body
		if got := outcome(runWith(t, &fakeBroker{}, body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestParserForwards(t *testing.T) {
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpParserCSV: answer(`[{"z":"1","a":"2"}]`)}}
	if got := outcome(runWith(t, b, `return safety.parser.csv("z,a\n1,2", { header: true })`, `{}`)); got != `[{"z":"1","a":"2"}]` {
		t.Error(got)
	}
	if got := string(b.seen[0].Args); got != `["z,a\n1,2",{"header":true}]` {
		t.Error(got)
	}
}

// TestTools runs bodies in the manner of ordinary tools.
func TestTools(t *testing.T) {
	for _, tc := range []struct{ name, body, args, want string }{
		{"jwt", `const [h, p] = token.split(".");
			const decode = s => JSON.parse(new TextDecoder("utf-8", { fatal: false }).decode(Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0))));
			return { header: decode(h), payload: decode(p) }`, `{"token":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x"}`, `{"header":{"alg":"HS256"},"payload":{"sub":"1"}}`},
		{"statistics", `const m = numbers.reduce((a, b) => a + b, 0) / numbers.length;
			return Math.sqrt(numbers.reduce((a, x) => a + (x - m) ** 2, 0) / numbers.length)`, `{"numbers":[1,2,3,4]}`, `1.118033988749895`},
		{"sort", `return lines.sort((a, b) => a.localeCompare(b)).join()`, `{"lines":["banana","Apple","apple","cherry"]}`, `"apple,Apple,banana,cherry"`},
		{"matches", `return [...text.matchAll(/(\w+)@(\w+)/g)].map(m => m.slice(1))`, `{"text":"a@b c@d"}`, `[["a","b"],["c","d"]]`},
		{"hangul identifiers", `const 이름 = { 값: 1_000 }; return 이름.값`, `{}`, `1000`},
		{"guarded patterns", `const m = /(?<y>\d{4})-(?<m>\d\d)/u.exec(d); return { ...m.groups }`, `{"d":"2026-01"}`, `{"y":"2026","m":"01"}`},
		{"classes", `class P { #x = 1; static n = 2; get x() { return this.#x } } return [new P().x, P.n, new P() instanceof P]`, `{}`, `[1,2,true]`},
		{"optional", `return a?.b?.[0] ?? "none"`, `{"a":{}}`, `"none"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := outcome(run(t, tc.body, tc.args)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestConsole(t *testing.T) {
	rep := run(t, `console.log("a", 1, { b: [1, undefined] }, [1, 2]); console.error(new TypeError("x")); console.debug(() => 1, Symbol("s"), null, undefined);
		console.info({ toJSON() { throw 1 } }); return 1`, `{}`)
	var got []string
	for _, l := range rep.Logs {
		got = append(got, l.Level+" "+l.Text)
	}
	want := []string{`log a 1 {"b":[1,null]} [1,2]`, `error TypeError: x`, `debug [function ] Symbol(s) null undefined`, `info [object that cannot be shown]`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A row is a body and what it gives in node.
type row struct{ body, want string }

// rows runs each body and compares.
func rows(t *testing.T, list []row) {
	t.Helper()
	for _, tc := range list {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}
