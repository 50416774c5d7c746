package js

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestFetchInput gives fetch arguments that change, lie or never end.
func TestFetchInput(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"text that changes", `let n = 0; return fetch({ toString: () => "https://a/" + n++ }).url + n`, `"sent https://a/01"`},
		{"blank", `fetch(" \n")`, "INVALID_INPUT/missing-url"},
		{"null", `fetch(null)`, "INVALID_INPUT/missing-url"},
		{"symbol", `fetch(Symbol("x"))`, "JS_ERROR/TypeError"},
		{"text that throws", `fetch({ toString() { throw new RangeError("r") } })`, "JS_ERROR/RangeError: r"},
		{"getter that throws", `fetch("https://a/", { get method() { throw new RangeError("r") } })`, "JS_ERROR/RangeError: r"},
		{"getter that loops", `fetch("https://a/", { get body() { for (;;); } })`, "RESOURCE_LIMIT/statements"},
		{"many headers", `fetch("https://a/", { headers: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ["h" + i, "v"])) })`, "INVALID_INPUT/invalid-headers"},
		{"proxy with many headers", `fetch("https://a/", { headers: new Proxy({}, { ownKeys: () => Array(1e5).fill(0).map((_, i) => "h" + i), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) }) })`, "INVALID_INPUT/invalid-headers"},
		{"endless headers", `fetch("https://a/", { headers: (function* () { for (;;) yield ["a", "b"] })() })`, "INVALID_INPUT/invalid-headers"},
		{"header beyond Latin-1", `fetch("https://a/", { headers: { a: "\u0100" } })`, "INVALID_INPUT/invalid-headers"},
		{"half a header", `fetch("https://a/", { headers: [["a"]] })`, "INVALID_INPUT/invalid-headers"},
		{"headers as text", `fetch("https://a/", { headers: "a: b" })`, "INVALID_INPUT/invalid-headers"},
		{"header that is a symbol", `fetch("https://a/", { headers: { a: Symbol("x") } })`, "JS_ERROR/TypeError"},
		{"huge body", `fetch("https://a/", { method: "POST", body: "x".repeat(16777210) })`, "INVALID_INPUT/input-too-large"},
		{"body as an object", `fetch("https://a/", { method: "POST", body: { a: 1 } })`, "INVALID_INPUT/invalid-body"},
		{"polluted init", `Object.prototype.method = "DELETE"; Object.prototype.headers = { evil: "1" }; return fetch("https://a/").statusText`, `"[\"https://a/\",{}]"`},
		{"method of another object", `const r = fetch("https://a/"); r.text.call({ __proto__: r })`, "JS_ERROR/TypeError"},
		{"then of another object", `const r = fetch("https://a/"); const o = Object.create(r); return typeof (await o)`, ``},
		{"polluted promise", `Promise.prototype.then = function () { throw 1 }; return fetch("https://a/").status`, `200`},
	} {
		echo := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpFetch: func(args []json.RawMessage) worker.BrokerReply {
			var u string
			_ = json.Unmarshal(args[0], &u)
			sent, _ := json.Marshal(args)
			out, _ := json.Marshal(map[string]any{"status": 200, "statusText": string(sent), "url": "sent " + u, "headers": []any{}, "body": map[string]string{"$bytes": "YQ=="}})
			return worker.BrokerReply{Result: out}
		}}}
		got := outcome(runWith(t, echo, tc.body, `{}`, func(c *worker.Call) { c.Globals.Fetch = true; c.Limits.MaxStatements = 300_000 }))
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s\ngot  %.300s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// gateHost gives the host and port that the gate reads in a URL, "" where it
// refuses the URL.
func gateHost(raw string) string {
	c := egress.New(decision.Network{Mode: "allowlist"}, egress.Options{})
	if f := c.Admit(egress.Request{URL: raw}); f == nil || f.Reason != egress.HostNotInAllowlist {
		return ""
	}
	return c.Ledger()[0].Host
}

// sameHost compares what new URL(raw) shows to the code, which may decide by
// it, with what the gate would judge and dial. The gate may refuse more, and
// may not read another host. One spelling of an address per host is its own.
func sameHost(t *testing.T, raw string) {
	t.Helper()
	judged := gateHost(raw)
	if judged == "" {
		return
	}
	u, err := parseURL(raw, nil)
	if err != nil {
		t.Errorf("%q: the gate would dial %s, and new URL throws", raw, judged)
		return
	}
	parsed, err := url.Parse(u.String())
	if err != nil || gateHost(u.String()) != judged {
		t.Errorf("%q: the gate would dial %s, and the code sees %s (%v)", raw, judged, u, parsed)
	}
}

// TestOneReadingOfURLs tries the spellings on which parsers are known to
// differ.
func TestOneReadingOfURLs(t *testing.T) {
	for _, raw := range differing {
		sameHost(t, raw)
	}
}

var differing = []string{
	"http://1000%8000", "https://AüAAAA.AüAAAA%8000", "http://b%C3%BCcher.example/",
	"http://good.test\\@evil.test/", "http://good.test\\.evil.test/", "http://good.test#@evil.test/", "http://good.test?@evil.test/",
	"http://good.test:80@evil.test/", "http://good.test:@evil.test/", "http://good.test%2eevil.test/", "http://good.test%00.evil.test/",
	"http://good.test\t.evil.test/", "http://good\n.test/", "http:good.test/", "http:/good.test/", "http:///good.test/", "http:\\\\good.test/", "\thttp://good.test/\x01",
	"http://GOOD.test./", "http://good.test../", "http://good。test/", "http://ｇood.test/", "http://gооd.test/", "http://faß.test/", "http://xn--fa-hia.test/",
	"http://xn--a/", "http://a\u00adb.test/", "http://a\u200db.test/", "http://a_b.test/", "http://-a-.test/", "http://a.test:080/", "http://a.test:/", "http://a.test:443/", "https://a.test:443/",
	"http://0x7f.1/", "http://127.1/", "http://0177.1/", "http://1.2.3/", "http://1.2.3.4./", "http://0x/", "http://0x.0x.0/", "http://256/", "http://4294967295/", "http://1e3/", "http://1.2.3.08/", "http://１.２.３.４/",
	"http://[::ffff:1.2.3.4]/", "http://[64:ff9b::1.2.3.4]/", "http://[::1%25lo]/", "http://[::1%lo]/", "http://[1::2]:80/", "http://[::1.2.3.4]/", "http://[::FFFF:102:304]/",
	"http://a.test/../b", "http://a.test/%zz", "http://a.test/?q=%", "http://a.test/ b", "http://a.test/[", "http://a.test/|", "http://a b.test/", "http://a<b.test/", "http://a^b.test/", "http://a,b.test/", "http://a!b/", "http://☃.test/", "http://a.test?b", "http://a.test#b",
	"HTTP://a.test", "http://a.test:65536", "http://a.test:-1", "http://a.test:8 0/", "http://a.test: 80/", " http://a.test/ ", "http://٠.test/", "http://1.2.3.٤/", "http://ａ.ｔｅｓｔ:８０/",
}

// FuzzFetchURL looks for a URL that the code and the gate read differently.
func FuzzFetchURL(f *testing.F) {
	for _, s := range differing {
		f.Add(s)
	}
	f.Fuzz(sameHost)
}
