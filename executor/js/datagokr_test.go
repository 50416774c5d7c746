package js

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestDataGoKr reads the forms in which the gateway answers, and its refusals.
func TestDataGoKr(t *testing.T) {
	const failed, refused = `HELPER_RUNTIME/parse-failed: [safety.parser] `, `HELPER_RUNTIME/refused: [safety.parser] data.go.kr refused the request`
	none := `{"code":null,"totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":`
	for _, tc := range []struct{ text, options, want string }{
		// Header and body, with and without an envelope.
		{`{"response":{"header":{"resultCode":"00","resultMsg":"OK"},"body":{"totalCount":2,"pageNo":"1","numOfRows":10,"items":{"item":[{"z":1,"a":2},null]}}}}`, "",
			`{"code":"00","totalCount":2,"pageNo":1,"numOfRows":10,"items":[{"z":1,"a":2},null],"raw":null}`},
		{`{"header":{"resultCode":"000"},"body":{"items":{"item":{"a":1}}}}`, "", `{"code":"000","totalCount":null,"pageNo":null,"numOfRows":null,"items":[{"a":1}],"raw":null}`},
		{`{"header":{"resultCode":"00"},"body":{"items":[{"a":1}],"totalCount":""}}`, "", `{"code":"00","totalCount":null,"pageNo":null,"numOfRows":null,"items":[{"a":1}],"raw":null}`},
		{`{"header":{"resultCode":"00"},"body":{"items":""}}`, "", `{"code":"00","totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":null}`},
		{`{"header":{"resultCode":"03","resultMsg":"NODATA"}}`, "{ raw: true }", `{"code":"03","totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":null}`},
		{`{"header":{"resultCode":"00"},"body":{"total":1}}`, "", `{"code":"00","totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":null}`},
		{`{"header":{"resultCode":"00"},"body":{"total":1}}`, "{ raw: true }", `{"code":"00","totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":{"header":{"resultCode":"00"},"body":{"total":1}}}`},
		{`{"header":{"resultCode":"99","resultMsg":"ERROR"}}`, "{ advice: 'check K' }", refused + ` (99): ERROR`},
		{`{"header":{"resultCode":30,"resultMsg":"SERVICE KEY ERROR"}}`, "{ advice: 'check K' }", refused + ` (30): SERVICE KEY ERROR; check K`},
		{`{"resultCode":"10","resultMsg":"INVALID"}`, "", refused + ` (10): INVALID`},
		{`{"header":{"resultCode":"99"}}`, "", refused + ` (99): no reason given`},
		// A list under the name of the service.
		{`{"Svc":[{"head":[{"totalCount":1},{"pageNo":"2"},{"RESULT":{"resultCode":"INFO-0"}}]},{"row":[{"a":1}]}]}`, "",
			`{"code":"INFO-0","totalCount":1,"pageNo":2,"numOfRows":null,"items":[{"a":1}],"raw":null}`},
		{`{"RESULT":{"resultCode":"INFO-3","resultMsg":"none"}}`, "", `{"code":"INFO-3","totalCount":null,"pageNo":null,"numOfRows":null,"items":[],"raw":null}`},
		{`{"RESULT":{"resultCode":"INFO-100","resultMsg":"bad key"}}`, "", refused + ` (INFO-100): bad key`},
		// "data" beside the counts.
		{`{"page":1,"perPage":5,"totalCount":9,"data":[{"a":1}]}`, "", `{"code":null,"totalCount":9,"pageNo":1,"numOfRows":5,"items":[{"a":1}],"raw":null}`},
		{`{"code":-401,"msg":"no such key"}`, "", refused + ` (-401): no such key`},
		// The gateway's own, and what is none of it.
		{"<R>\n<errMsg>SERVICE ERROR</errMsg><returnAuthMsg>KEY_IS_NOT</returnAuthMsg></R>", "{ advice: 'check K' }", refused + `: KEY_IS_NOT; check K`},
		{"<R><errMsg>LIMITED</errMsg></R>", "{ advice: 'check K' }", refused + `: LIMITED`},
		{`{"a":1}`, "", failed + `data.go.kr answered in no form that is known: no result code`},
		{`{"a":1}`, "{ raw: 1 }", none + `{"a":1}}`},
		{`[1]`, "{ raw: true }", none + `[1]}`},
		{`null`, "", failed + `data.go.kr answered with neither an object nor a list`},
		{`5`, "{ raw: true }", failed + `data.go.kr answered with neither an object nor a list`},
		{`{"a"`, "", failed + `data.go.kr answered with invalid json`},
		{``, "", failed + `data.go.kr answered with invalid json`},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "", failed + `data.go.kr answered with invalid json`},
		{`{"header":[],"response":{"header":null,"body":7},"data":{"__proto__":{"a":1}}}`, "", `{"code":null,"totalCount":null,"pageNo":null,"numOfRows":null,"items":[{"__proto__":{"a":1}}],"raw":null}`},
	} {
		body := "return safety.parser.dataGoKr(" + strconv.Quote(tc.text) + ", " + tc.options + ")"
		if got := outcome(run(t, body, `{}`)); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", clip(body, 300), got, tc.want)
		}
	}
	for body, want := range map[string]string{
		`safety.parser.dataGoKr()`:                                                         `INVALID_INPUT/missing-input: [safety.parser] dataGoKr needs the text of an answer`,
		`safety.parser.dataGoKr(Symbol("x"))`:                                              `JS_ERROR/TypeError: Cannot convert a Symbol value to a string`,
		`safety.parser.dataGoKr("x".repeat(6 << 20))`:                                      `INVALID_INPUT/input-too-large: [safety.parser] the text is larger than 5 MiB`,
		`safety.parser.dataGoKr("{}", { get raw() { throw new RangeError("mine") } })`:     `JS_ERROR/RangeError: mine`,
		`safety.parser.dataGoKr({ toString() { throw new RangeError("mine") } })`:          `JS_ERROR/RangeError: mine`,
		`Object.prototype.raw = true; return safety.parser.dataGoKr("{}").raw`:             failed + `data.go.kr answered in no form that is known: no result code`,
		`JSON.parse = () => 1; return safety.parser.dataGoKr('{"data":[]}').items`:         `[]`,
		`Object.prototype.advice = "x"; safety.parser.dataGoKr("<a><errMsg>KEY</errMsg>")`: refused + `: KEY`,
	} {
		if got := outcome(run(t, body, `{}`)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// TestDataGoKrXML: an answer in XML is asked of the server, as that of
// safety.parser.xml is, and counts as one operation.
func TestDataGoKrXML(t *testing.T) {
	node := func(tag, text string, children ...string) string {
		return `{"tag":"` + tag + `","attrs":{},"text":"` + text + `","children":[` + strings.Join(children, ",") + `]}`
	}
	tree := node("response", "", node("header", "", node("resultCode", "00")),
		node("body", "", node("items", "", node("item", "", node("z", "1"), node("a", "2")), node("item", "x")), node("totalCount", "2")))
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{worker.OpParserXML: answer(tree)}}
	got := outcome(runWith(t, b, `return safety.parser.dataGoKr("<response/>")`, `{}`, func(*worker.Call) {}))
	if want := `{"code":"00","totalCount":2,"pageNo":null,"numOfRows":null,"items":[{"z":"1","a":"2"},"x"],"raw":null}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzDataGoKr: whatever the gateway answers, what is read of it is JSON.
func FuzzDataGoKr(f *testing.F) {
	for _, seed := range []string{`{"response":{"header":{"resultCode":"00"},"body":{"items":{"item":[{}]}}}}`, `{"S":[{"head":[{"RESULT":{}}]},{"row":[0]}]}`, `{"data":"\ud800","totalCount":"1e999"}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			t.Skip()
		}
		got, ok := readGateway(text)
		if !ok {
			return
		}
		out, err := json.Marshal(got)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q: %v", text, err)
		}
		if got.refusal != "" && got.Code == nil {
			t.Fatalf("%q: refused without a code", text)
		}
	})
}
