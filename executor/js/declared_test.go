package js

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// standard are the globals that editors know from the language itself.
const standard = `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError
	Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl JSON Map Math NaN Number Object Promise Proxy
	RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array eval
	Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN
	parseFloat parseInt undefined unescape`

// What is walked in the runtime, by the name of its declaration.
const listNames = `
	const found = {};
	const walk = (name, ...values) => {
		const names = new Set();
		for (const value of values) {
			for (let o = value; o && o !== Object.prototype && o !== Function.prototype; o = Object.getPrototypeOf(o)) {
				Object.getOwnPropertyNames(o).forEach((n) => names.add(n));
			}
		}
		found[name] = [...names];
	};
	const response = fetch("https://a/"), page = safety.parser.html("<p>a</p>");
	walk("", globalThis);
	walk("Console", console);
	walk("Crypto", crypto);
	walk("SubtleCrypto", crypto.subtle);
	walk("Safety", safety);
	walk("DataGoKrAnswer", safety.parser.dataGoKr("{}", { raw: true }));
	walk("FileSystem", safety.fs);
	walk("Parser", safety.parser);
	walk("Time", safety.time);
	walk("ZonedTime", safety.time.zoned(0));
	walk("Java", Java);
	walk("FetchResponse", response);
	walk("FetchHeaders", response.headers);
	walk("HtmlDocument", page);
	walk("HtmlElement", page.select("p").first());
	walk("HtmlElements", page.select("p"));
	walk("URL", URL, new URL("https://a/"));
	walk("URLSearchParams", new URLSearchParams("a=1"));
	walk("TextEncoder", new TextEncoder());
	walk("TextDecoder", new TextDecoder());
	return found;`

// TestDeclared holds the declarations for editors against the runtime: what is
// there is declared, and what is declared is there.
func TestDeclared(t *testing.T) {
	text, err := os.ReadFile("../../authoring/globals.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(string(text))
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpFetch: answer(`{"status":200,"statusText":"OK","url":"https://a/","contentType":null,"headers":[],"body":{"$bytes":"e30="},"truncated":false,"nextStartIndex":null}`),
	}}
	rep := runWith(t, b, listNames, `{}`, func(c *worker.Call) { c.Globals = worker.Globals{Fetch: true, FSRead: true, FSWrite: true} })
	var found map[string][]string
	if err := json.Unmarshal(rep.Result, &found); err != nil {
		t.Fatal(err, rep.Failure)
	}
	// Of a class itself, of what is awaited, and of every value.
	silent := []string{"constructor", "length", "name", "prototype", "then", "catch", "finally"}
	for of, names := range found {
		want := declared[of]
		if of == "HtmlDocument" {
			want = append(want, declared["HtmlElement"]...)
		}
		for _, n := range names {
			known := slices.Contains(want, n) || of == "" && slices.Contains(strings.Fields(standard), n)
			if !known && !slices.Contains(silent, n) {
				t.Errorf("%s.%s is not declared", of, n)
			}
		}
		for _, n := range want {
			if !slices.Contains(names, n) {
				t.Errorf("%s.%s is declared, and is not there", of, n)
			}
		}
	}
}

var (
	opens  = regexp.MustCompile(`^(?:declare (?:class|const|function)|interface) (\w+)`)
	member = regexp.MustCompile(`^  (?:static |readonly )*(\w+)\??[(<:]`)
)

// declarations are the members of each interface and class by its name, and
// under "" what is declared itself. It reads the layout that prettier gives.
func declarations(text string) map[string][]string {
	all := map[string][]string{}
	in := ""
	for line := range strings.Lines(text) {
		if m := opens.FindStringSubmatch(line); m != nil {
			in = m[1]
			if strings.HasPrefix(line, "declare") {
				all[""] = append(all[""], in)
			}
			continue
		}
		if m := member.FindStringSubmatch(line); m != nil && m[1] != "constructor" && !slices.Contains(all[in], m[1]) {
			all[in] = append(all[in], m[1])
		}
	}
	return all
}
