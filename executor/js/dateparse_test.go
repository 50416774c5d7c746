package js

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDateForms reads texts of many forms as node does, right and wrong ones.
func TestDateForms(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "probes", "dates.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]any
	if err := json.Unmarshal(data, &rows); err != nil || len(rows) < 600 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		ms, ok := parseDate(row[0].(string), time.UTC)
		if want, valid := row[1].(float64); ok != valid || ok && float64(ms) != want {
			t.Errorf("%q: %d %v, want %v", row[0], ms, ok, row[1])
		}
	}
	seoul := time.FixedZone("", 9*3600)
	for text, want := range map[string]int64{"1970-01-01T09:00": 0, "1970-01-01": 0, "1970-01-01T00:00Z": 0, "1970/1/1 9:00": 0, "1970/1/1 UTC": 0} {
		if ms, ok := parseDate(text, seoul); !ok || ms != want {
			t.Errorf("%s elsewhere: %d %v, want %d", text, ms, ok, want)
		}
	}
}

// TestDateClass holds that the class reads texts by these rules wherever a
// program makes dates, and is the engine's in all else. The answers are node's.
func TestDateClass(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`return ["2020-01-02t03:04:05z", "2020-01-02T03:04:05,5Z", "Jan 5 2020 UTC"].map(s => [Date.parse(s), new Date(s).getTime()])`, `[[1577934245000,1577934245000],[null,null],[1578182400000,1578182400000]]`},
		{`const D = Date; return [new D("2020-01-02T03:04:05,5Z").getTime(), new D(...["2020"]).getTime(), Reflect.construct(Date, ["2020"]).getTime(), globalThis.Date.parse("2020-01-02t00:00Z")]`, `[null,1577836800000,1577836800000,1577923200000]`},
		{`return [typeof Date(), Date.name, Date.length, Date.parse.length, new Date("5") instanceof Date, Object.prototype.toString.call(new Date("x")), new Date("2020").constructor === Date, Object.getOwnPropertyNames(Date).sort()]`,
			`["string","Date",7,1,true,"[object Date]",true,["UTC","length","name","now","parse","prototype"]]`},
		{`return [new Date(new Date(5)), new Date({ valueOf() { return 1 }, toString() { return "2020" } }), new Date(new Number(5)), new Date(new String("2020")), new Date(true), new Date(null), new Date({ [Symbol.toPrimitive]: (h) => h === "default" ? "2020" : 7 })].map(d => d.getTime())`,
			`[5,1,5,1577836800000,1,0,1577836800000]`},
		{`const seen = []; const o = { get valueOf() { seen.push("v"); return () => ({}) }, get toString() { seen.push("t"); return () => "2020" } }; return [new Date(o).getTime(), seen]`, `[1577836800000,["v","t"]]`},
		{`class D extends Date { x() { return this.getTime() + 1 } } return [new D("2020").x(), new D("2020") instanceof D, Reflect.construct(Date, ["2020"], D).x(), new D(5).x()]`, `[1577836800001,true,1577836800001,6]`},
		{`const n = []; for (const f of [() => new Date(Symbol()), () => new Date(1n), () => Date.parse(Symbol()), () => new Date({ valueOf: 1, toString: 1 })]) try { f() } catch (e) { n.push(e.name) } return n`, `["TypeError","TypeError","TypeError","TypeError"]`},
		{`const d = new Date(Date.UTC(1999, 5)); const y = d.getYear(); d.setYear(70); const a = d.getUTCFullYear(); d.setYear(2001); return [y, a, d.getUTCFullYear(), d.setYear("x"), d.setYear(5) < 0, Date.prototype.toGMTString === Date.prototype.toUTCString, Date.prototype.setYear.length, new Date(0).toGMTString()]`,
			`[99,1970,2001,null,true,true,1,"Thu, 01 Jan 1970 00:00:00 GMT"]`},
		{`Date.prototype.setYear.call({}, 1)`, "JS_ERROR/TypeError: Method Date.prototype.getFullYear is called on incompatible receiver"},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestDateClassWhereRead holds that programs which make no date of a text keep
// the engine's own class.
func TestDateClassWhereRead(t *testing.T) {
	for source, want := range map[string]bool{
		`return new Date()`: false, `return Date.now()`: false, `return new Date(2020, 1)`: false, `return new Date(5)`: false,
		`return new Date(Date.now() - 5)`: false, `return new Date(Date.UTC(2020))`: false, `return x instanceof Date`: false, `return Date()`: false,
		`return new Date(x)`: true, `return new Date(...x)`: true, `return new Date(a + b)`: true, `return new Date(a || b)`: true, `return Date.parse(x)`: true,
		`return [].map(Date)`: true, `class D extends Date {}`: true, `return globalThis.Date`: true, `const { parse } = Date`: true,
	} {
		p, failure := compileBody("t.js", source, nil, false)
		if failure != nil {
			t.Fatal(failure)
		}
		if p.needs.readsDates != want {
			t.Errorf("%s: %v, want %v", source, p.needs.readsDates, want)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2020-01-02T03:04:05.678Z", "+123456-01-01", "Jan 2 2020 3:04 pm GMT+9 (x", "1:2:3.4 -"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ms, ok := parseDate(text, time.UTC); ok && (ms > maxTime || ms < -maxTime) {
			t.Errorf("%q: %d", text, ms)
		}
	})
}
