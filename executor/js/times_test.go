package js

import (
	"encoding/json"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestTimes(t *testing.T) {
	const notTime = `INVALID_INPUT/invalid-time: [safety.time] `
	for _, tc := range []struct{ body, want string }{
		{`return ["1970-01-01", " 1970-01-01T00:00Z ", "1970-01-01 00:00:01", "1970-01-01t00:00:00.5z", "1970-01-01T09:00:00.1239+09:00", "1969-12-31T19:00-05:00"].map(t => safety.time.parse(t))`, `[0,0,1000,500,123,0]`},
		{`return safety.time.parse("2024-02-29") === Date.parse("2024-02-29")`, `true`},
		{`return safety.time.parse("2026-01-15T24:00:00Z") === Date.parse("2026-01-16")`, `true`},
		{`return safety.time.parse("0001-01-01") === Date.parse("0001-01-01")`, `true`},
		{`return safety.time.parse("9999-12-31T23:59:59.999Z") === Date.parse("9999-12-31T23:59:59.999Z")`, `true`},
		{`safety.time.parse("yesterday", "start")`, notTime + `start must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not "yesterday"`},
		{`safety.time.parse("")`, notTime + `the time must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not ""`},
		{`safety.time.parse(1768473000000)`, notTime + `the time must be an ISO 8601 time such as 2026-01-15T10:30:00Z, not "1768473000000"`},
		{`safety.time.parse("2026-02-29")`, notTime + `the time "2026-02-29" is not a time that exists`},
		{`safety.time.parse("2026-00-10")`, notTime + `the time "2026-00-10" is not a time that exists`},
		{`safety.time.parse("2026-01-15T24:00:00.001Z")`, notTime + `the time "2026-01-15T24:00:00.001Z" is not a time that exists`},
		{`safety.time.parse("2026-01-15T10:60Z")`, notTime + `the time "2026-01-15T10:60Z" is not a time that exists`},
		{`safety.time.parse("2026-01-15T10:30:60Z")`, notTime + `the time "2026-01-15T10:30:60Z" is not a time that exists`},
		{`safety.time.parse("2026-01-15T10:30:00+24:00")`, notTime + `the time "2026-01-15T10:30:00+24:00" is not a time that exists`},
		{`safety.time.parse(Symbol("x"))`, "JS_ERROR/TypeError: Cannot convert a Symbol value to a string"},
		{`return safety.time.zoned(Date.parse("2026-01-15T10:30:00.007Z"), "Asia/Seoul")`,
			`{"year":2026,"month":1,"day":15,"hour":19,"minute":30,"second":0,"millisecond":7,"weekday":"Thu","offset":"+09:00","iso":"2026-01-15T19:30:00.007+09:00"}`},
		{`return [safety.time.zoned(0).iso, safety.time.zoned(new Date(0), "").iso, safety.time.zoned(0, null).iso, safety.time.zoned(-1, " UTC ").iso]`,
			`["1970-01-01T00:00:00.000+00:00","1970-01-01T00:00:00.000+00:00","1970-01-01T00:00:00.000+00:00","1969-12-31T23:59:59.999+00:00"]`},
		// Midnight is hour 0 of the day that begins, on both sides of the change to summer time.
		{`return ["2026-03-28T23:00:00Z", "2026-03-29T01:00:00Z", "2026-10-24T22:00:00Z"].map(t => safety.time.zoned(Date.parse(t), "Europe/Berlin").iso)`,
			`["2026-03-29T00:00:00.000+01:00","2026-03-29T03:00:00.000+02:00","2026-10-25T00:00:00.000+02:00"]`},
		{`return [safety.time.zoned(Date.parse("1900-01-01T00:00:00Z"), "Asia/Seoul").offset, safety.time.zoned(0, "-03:30").offset]`, `["+08:27:52","-03:30"]`},
		{`return [safety.time.zoned(Date.parse("0000-01-01T00:00:00Z")).iso, safety.time.zoned(-62167219200001).iso, safety.time.zoned(8.64e15).iso]`,
			`["0000-01-01T00:00:00.000+00:00","-000001-12-31T23:59:59.999+00:00","+275760-09-13T00:00:00.000+00:00"]`},
		{`safety.time.zoned(0, "Mars/Olympus")`, `INVALID_INPUT/unknown-time-zone: [safety.time] unknown time zone "Mars/Olympus"; use an IANA name such as Asia/Seoul`},
		{`safety.time.zoned(0, "../etc/passwd")`, `INVALID_INPUT/unknown-time-zone: [safety.time] unknown time zone "../etc/passwd"; use an IANA name such as Asia/Seoul`},
		{`safety.time.zoned(0, "Local")`, `INVALID_INPUT/unknown-time-zone: [safety.time] unknown time zone "Local"; use an IANA name such as Asia/Seoul`},
		{`safety.time.zoned(new Date("never"))`, notTime + `zoned needs a Date or milliseconds since 1970`},
		{`safety.time.zoned()`, notTime + `zoned needs a Date or milliseconds since 1970`},
	} {
		if got := outcome(run(t, tc.body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
}

// TestResponseCheck answers every request with the status of its path, and a
// body that is cut where the query says so.
func TestResponseCheck(t *testing.T) {
	answers := map[string]string{
		"ok":     `{"status":204,"headers":[],"body":{"$bytes":""}}`,
		"wrong":  `{"status":404,"headers":[],"body":{"$bytes":"YQ=="}}`,
		"cut":    `{"status":200,"headers":[],"truncated":true,"body":{"$bytes":"YWI="}}`,
		"failed": `{"status":500,"headers":[],"truncated":true,"body":{"$bytes":"YWI="}}`,
	}
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpFetch: func(args []json.RawMessage) worker.BrokerReply {
		var name string
		_ = json.Unmarshal(args[0], &name)
		return worker.BrokerReply{Result: json.RawMessage(answers[name])}
	}}}
	for _, tc := range []struct{ body, want string }{
		{`const r = fetch("ok"); return [r.check("Acme") === r, r.check().status, (await fetch("ok")).check("Acme").ok]`, `[true,204,true]`},
		{`fetch("wrong").check("Acme", { 403: "log in" })`, "HELPER_RUNTIME/http-status: [fetch] Acme answered with HTTP status 404"},
		{`fetch("wrong").check("Acme", { 404: "use another id" })`, "HELPER_RUNTIME/http-status: [fetch] Acme answered with HTTP status 404; use another id"},
		{`fetch("wrong").check(undefined, { 404: null })`, "HELPER_RUNTIME/http-status: [fetch] the server answered with HTTP status 404"},
		{`fetch("wrong").check("Acme", "advice")`, "HELPER_RUNTIME/http-status: [fetch] Acme answered with HTTP status 404"},
		{`fetch("cut").check("Acme", { truncated: "ask for less" })`, "HELPER_RUNTIME/body-truncated: [fetch] the answer of Acme is larger than 2 bytes; ask for less"},
		{`fetch("failed").check("Acme")`, "HELPER_RUNTIME/http-status: [fetch] Acme answered with HTTP status 500"},
		{`fetch("wrong").check("Acme", { get 404() { throw new RangeError("r") } })`, "JS_ERROR/RangeError: r"},
		{`const r = fetch("ok"); r.check.call({ status: 200 })`, "JS_ERROR/TypeError: check was called on something that is not a response"},
	} {
		if got := outcome(runWith(t, b, tc.body, `{}`, func(c *worker.Call) { c.Globals.Fetch = true })); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.body, got, tc.want)
		}
	}
	for n, want := range map[int]string{0: "0 bytes", 999: "999 bytes", 1000: "1 kB", 500_000: "500 kB", 2_000_000: "2 MB", 1_500_000: "1500 kB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}
