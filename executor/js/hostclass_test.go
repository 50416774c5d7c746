package js

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func allowAll() *fakeBroker {
	return &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpClassLookup: answer(`true`)}}
}

// TestMoreHostClasses: the wanted values are what a Java 21 gives.
func TestMoreHostClasses(t *testing.T) {
	for _, tc := range []struct{ class, body, want string }{
		{"java.lang.String", `return [C.valueOf(1.5), C.valueOf(null), C.join("-", "a", "b"), C.join(", ", ["x", "y"])]`, `["1.5","null","a-b","x, y"]`},
		{"java.lang.String", `return [C.format("%s|%5d|%-5s|%05d|%,d|%x|%X|%c|%b|%%|%n", "a", 42, "b", -42, 1234567, 255, 255, "z", true)]`, `["a|   42|b    |-0042|1,234,567|ff|FF|z|true|%|\n"]`},
		{"java.lang.String", `return [C.format("%.2f", 0.125), C.format("%.1f", -2.25), C.format("%f", 1), C.format("%,.2f", 1234.5), C.format("%+d % d", 1, 1), C.format("%2$s %1$s", "a", "b"), C.format("%08.3f", -3.14159), C.format("%.3s", "abcdef"), C.format("%x", -1)]`,
			`["0.13","-2.3","1.000000","1,234.50","+1  1","b a","-003.142","abc","ffffffff"]`},
		{"java.lang.String", `C.format("%d", "x")`, `INVALID_INPUT/format`},
		{"java.lang.String", `C.format("%d")`, `INVALID_INPUT/format`},
		{"java.lang.String", `C.format("%e", 1)`, `INVALID_INPUT/format`},
		{"java.lang.String", `C.format("%9999s".repeat(2000), ...Array(2000).fill("x"))`, `INVALID_INPUT/too-large`},
		{"java.lang.Character", `return [C.isDigit("5"), C.isLetter("é"), C.isWhitespace("\u00a0"), C.isWhitespace("\t"), C.toUpperCase("a"), C.toUpperCase(97), C.getNumericValue("f"), C.isLetterOrDigit("_")]`, `[true,true,false,true,"A",65,15,false]`},
		{"java.lang.Character", `C.isDigit("ab")`, `INVALID_INPUT/character-required`},
		{"java.util.Objects", `return [C.equals(1, 1), C.equals("1", 1), C.equals(null, undefined), C.toString(null, "d"), C.requireNonNullElse(null, 2), C.isNull(undefined)]`, `[true,false,true,"d",2,true]`},
		{"java.util.Objects", `C.requireNonNull(null, "gone")`, `INVALID_INPUT/null: [Java.type] gone`},
		{"java.util.StringJoiner", `return [new C(", ", "[", "]").add("a").add("b").toString(), new C("-").add("é").length()]`, `["[a, b]",1]`},
		{"java.util.ArrayList", `const l = new C(["b", "a"]); l.add("c"); l.add(0, "z"); return [l, l.size(), l.get(1), l.indexOf("c"), l.remove(0), l.remove("a"), l.remove("q"), l.contains("b"), l.toString(), [...l]]`, `[["b","c"],4,"b",3,"z",true,false,true,"[b, c]",["b","c"]]`},
		{"java.util.ArrayList", `const l = new C(); l.add(l); return l.toString()`, `"[(this Collection)]"`},
		{"java.util.ArrayList", `const l = new C(); l.add(l); return l`, `JS_ERROR/`},
		{"java.util.ArrayList", `new C().get(0)`, `INVALID_INPUT/index`},
		{"java.util.ArrayList", `const l = new C(Array(600000).fill(0)); l.addAll(l)`, `INVALID_INPUT/too-large`},
		{"java.util.HashMap", `const m = new C(); return [m.put("a", 1), m.put("a", 2), m.put(null, 3), m.get("a"), m.get("x"), m.getOrDefault("x", 9), m.containsKey(null), m.remove("a"), m.size(), m.putIfAbsent("k", 5), m.toString(), m, m.keySet(), m.values()]`,
			`[null,1,null,2,null,9,true,2,1,null,"{null=3, k=5}",{"null":3,"k":5},[null,"k"],[3,5]]`},
		{"java.util.HashMap", `const m = new C(); m.put("__proto__", { x: 1 }); const o = JSON.parse(JSON.stringify(m)); return [({}).x, m.get("__proto__"), Object.keys(o)]`, `[null,{"x":1},["__proto__"]]`},
		{"java.util.LinkedHashMap", `const m = new C(); for (let i = 0; i < 300; i++) { m.put(i, i); if (i % 3) m.remove(i) } let n = 0; m.forEach((k, v) => { n += k === v ? 1 : 1000 }); return [n, m.size(), m.get(297), m.get(298)]`, `[100,100,297,null]`},
		{"java.util.HashSet", `const x = new C([1, 2, 1, "1"]); return [x.size(), x.add(2), x.add(3), x.contains("1"), x.remove(1), x]`, `[3,false,true,true,true,[2,"1",3]]`},
		{"java.util.LinkedHashSet", `const B = Java.type("java.math.BigDecimal"); const x = new C(); x.add(new B("1.0")); return [x.contains(new B("1.0")), x.contains(new B("1.00")), x.contains(1)]`, `[true,false,false]`},
		{"java.util.regex.Pattern", `const m = C.compile("(?<y>\\d{4})-(\\d\\d)").matcher("é 2026-01 2027-02"); const out = []; while (m.find()) out.push([m.group(), m.group("y"), m.group(2), m.start(), m.end(1), m.groupCount()]); return out`,
			`[["2026-01","2026","01",2,6,2],["2027-02","2027","02",10,14,2]]`},
		{"java.util.regex.Pattern", `const p = C.compile("a|ab"); return [p.matcher("ab").matches(), p.matcher("ab").lookingAt(), C.matches("[a-c]+", "abc"), C.compile("A", C.CASE_INSENSITIVE).matcher("xa").find(), C.compile("(a)(b)?").matcher("ab a").replaceAll("<$1$2\\$$1>"), p.matcher("aa").replaceFirst("${x}".length)]`,
			`[true,true,true,true,"<ab$a> <a$a>","4a"]`},
		{"java.util.regex.Pattern", `return [C.compile(",").split("a,b,,c,,"), C.compile("").split("abc"), C.compile(",").split(""), C.compile(",").split(",a"), C.quote("a.b")]`, `[["a","b","","c"],["a","b","c"],[""],["","a"],"a\\.b"]`},
		{"java.util.regex.Pattern", `C.compile("(?=a)b")`, `INVALID_INPUT/pattern`},
		{"java.util.regex.Pattern", `C.compile("a)|(b")`, `INVALID_INPUT/pattern`},
		{"java.util.regex.Pattern", `C.compile("(a)\\1")`, `INVALID_INPUT/pattern`},
		{"java.util.regex.Pattern", `C.compile("(((a{30}){30}){10})")`, `INVALID_INPUT/pattern`},
		{"java.util.regex.Pattern", `C.compile("(a{50}b?){15}").matcher("a".repeat(1000000)).find()`, `INVALID_INPUT/too-large`},
		{"java.util.regex.Pattern", `C.compile("a").matcher("a").group()`, `INVALID_INPUT/no-match`},
		{"java.util.regex.Pattern", `C.compile("a").matcher("a").replaceAll("$2")`, `INVALID_INPUT/no-group`},
		{"java.time.LocalDate", `const d = C.of(2024, 1, 31); return [d.plusMonths(1), d.plusYears(1).plusMonths(-11), d.plusDays(1), d.minusWeeks(1), d.getDayOfWeek(), d.lengthOfMonth(), d.isLeapYear(), d.toEpochDay(), C.ofEpochDay(-1), d.isBefore(C.parse("2024-02-01")), C.parse("2024-02-29").plusYears(1), d.getMonth(), d.getDayOfYear(), C.parse("2024-03-31").minusMonths(13)]`,
			`["2024-02-29","2024-02-29","2024-02-01","2024-01-24","WEDNESDAY",31,true,19753,"1969-12-31",true,"2025-02-28","JANUARY",31,"2023-02-28"]`},
		{"java.time.LocalDate", `C.of(2023, 2, 29)`, `INVALID_INPUT/date-time`},
		{"java.time.LocalDate", `C.parse("2023-2-9")`, `INVALID_INPUT/date-time-parse`},
		{"java.time.LocalDate", `C.of(9999, 12, 31).plusDays(1)`, `INVALID_INPUT/date-time`},
		{"java.time.Duration", `const I = Java.type("java.time.Instant"); return [C.ofSeconds(3661), C.ofMillis(-1500), C.ofDays(2), C.between(I.parse("2026-01-01T00:00:00Z"), I.parse("2026-01-01T01:00:00.250Z")), C.ofMinutes(90).toHours(), C.ofMillis(-1).getSeconds(), C.ofHours(1).plus(C.ofMinutes(1)).toMinutes(), C.ofSeconds(0).toString(), C.ofSeconds(1).compareTo(C.ofMillis(999))]`,
			`["PT1H1M1S","PT-1.5S","PT48H","PT1H0.25S",1,-1,61,"PT0S",1]`},
		{"java.time.Duration", `C.ofDays(1e9)`, `INVALID_INPUT/arithmetic`},
		{"java.security.MessageDigest", `const d = C.getInstance("SHA-256"); d.update("hello "); const hex = b => Array.from(b, x => x.toString(16).padStart(2, "0")).join(""); return [hex(d.digest("world")), d.getAlgorithm(), d.getDigestLength(), hex(C.getInstance("md5").digest(new Uint8Array(0)))]`,
			`["b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9","SHA-256",32,"d41d8cd98f00b204e9800998ecf8427e"]`},
		{"java.security.MessageDigest", `C.getInstance("X")`, `INVALID_INPUT/no-such-algorithm`},
		{"java.lang.Thread", ``, `INVALID_INPUT/class-not-implemented: [Java.type] java.lang.Thread is allowed but does not exist on this runtime; use plain JavaScript, or one of java.lang.Boolean, java.lang.Character,`},
	} {
		got := outcome(runWith(t, allowAll(), `const C = Java.type("`+tc.class+`");`+tc.body, `{}`))
		if ok := got == tc.want || !strings.HasPrefix(tc.want, "[") && !strings.HasPrefix(tc.want, `"`) && strings.HasPrefix(got, tc.want); !ok {
			t.Errorf("%s: %s\ngot  %.400s\nwant %s", tc.class, tc.body, got, tc.want)
		}
	}
}

// FuzzHostClasses calls any method of any class with any text and number.
func FuzzHostClasses(f *testing.F) {
	f.Add("java.lang.String", "format", "%5.2f", 1.5)
	f.Add("java.util.regex.Pattern", "compile", "(a|b)*", 2.0)
	f.Add("java.time.Duration", "ofDays", "x", 3.0)
	f.Add("java.math.BigDecimal", "valueOf", "1e5", -7.0)
	f.Add("java.util.Base64", "getDecoder", "aGk=", 0.0)
	f.Fuzz(func(t *testing.T, class, method, text string, n float64) {
		args, err := json.Marshal(map[string]any{"cls": class, "method": method, "text": text, "n": n})
		if err != nil {
			return
		}
		rep := runWith(t, allowAll(), `const told = f => { try { return f() } catch (e) { if (!e.kind && !(e instanceof TypeError) && !(e instanceof RangeError)) throw e } };
			const C = told(() => Java.type(cls)); if (!C) return null;
			const made = [told(() => C[method](text, n)), told(() => C[method](n, text)), told(() => C[method](text)), told(() => new C(text)), told(() => new C())].filter(x => x && typeof x === "object");
			for (const o of made) for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(o))) { if (typeof o[name] === "function") { told(() => o[name](text, n)); told(() => o[name](n)); told(() => o[name](o)) } }
			return made.length`, string(args))
		if f := rep.Failure; f != nil && f.Code != "RESOURCE_LIMIT" {
			t.Fatalf("%s: %s", args, outcome(rep))
		}
	})
}
