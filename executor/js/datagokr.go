package js

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// maxGatewayText bounds an answer of the gateway, as that of the other parsers.
const maxGatewayText = 5 << 20

// gatewayAnswer is what the forms of data.go.kr, the gateway of the Korean
// open data portal, have in common. A count that is not there is null.
type gatewayAnswer struct {
	Code       *string           `json:"code"` // null where the form has none
	TotalCount *json.Number      `json:"totalCount"`
	PageNo     *json.Number      `json:"pageNo"`
	NumOfRows  *json.Number      `json:"numOfRows"`
	Items      []json.RawMessage `json:"items"`
	Raw        json.RawMessage   `json:"raw"` // the whole answer where no entries were looked for in vain

	refusal string // of a code that is none of success
}

var (
	// What the gateway itself refuses is XML, whatever form was asked for.
	gatewayRefusal = regexp.MustCompile(`(?s)^\s*<.*<(?:errMsg|returnAuthMsg)>([^<]*)<`)
	gatewaySuccess = regexp.MustCompile(`^(?:0+|03|INFO-0+|INFO-3)$`)
	aboutTheKey    = regexp.MustCompile(`KEY|ACCESS`)
)

// noData are the codes that say that nothing was found.
var noData = []string{"03", "INFO-3"}

// parseDataGoKr is safety.parser.dataGoKr(text, {advice, raw}?): the entries
// and the counts of an answer of data.go.kr. It fails where the answer is a
// refusal, with advice behind one that is about the key, and, unless raw is
// true, where it has no form that is known.
func (s *session) parseDataGoKr(call goja.FunctionCall) goja.Value {
	if goja.IsUndefined(call.Argument(0)) {
		s.refuse(fault.InvalidInput, parserHelper, "missing-input", "[safety.parser] dataGoKr needs the text of an answer")
	}
	text := s.fetchText(call.Argument(0))
	if len(text) > maxGatewayText {
		s.refuse(fault.InvalidInput, parserHelper, "input-too-large", "[safety.parser] the text is larger than 5 MiB")
	}
	advice, anyForm := "", false
	if o, ok := call.Argument(1).(*goja.Object); ok {
		if v := o.Get("advice"); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
			advice = "; " + s.fetchText(v)
		}
		v := o.Get("raw")
		anyForm = v != nil && v.ToBoolean()
	}
	refused := func(reason string) {
		if !aboutTheKey.MatchString(reason) {
			advice = ""
		}
		s.refuse(fault.HelperRuntime, parserHelper, "refused", "[safety.parser] data.go.kr refused the request"+clip(reason, 500)+advice)
	}
	if m := gatewayRefusal.FindStringSubmatch(text); m != nil {
		refused(": " + m[1])
	}
	failed := func(why string) {
		s.refuse(fault.HelperRuntime, parserHelper, "parse-failed", "[safety.parser] "+why)
	}
	answer := []byte(text)
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		var root xmlNode
		raw := s.ask(worker.OpParserXML, parserHelper, s.encode(parserHelper, []goja.Value{s.vm.ToValue(text)}))
		if nesting(string(raw)) > maxJSONDepth || json.Unmarshal(raw, &root) != nil {
			failed("data.go.kr answered with XML that nests too deeply")
		}
		answer = root.json(nil)
	}
	if nesting(string(answer)) > maxJSONDepth || !json.Valid(answer) {
		failed("data.go.kr answered with invalid json")
	}
	got, ok := readGateway(answer)
	switch {
	case !ok:
		failed("data.go.kr answered with neither an object nor a list")
	case got.refusal != "":
		refused(got.refusal)
	case got.Code == nil && got.Raw != nil && !anyForm:
		failed("data.go.kr answered in no form that is known: no result code")
	}
	if !anyForm {
		got.Raw = nil
	}
	out, err := json.Marshal(got)
	if err != nil {
		failed("data.go.kr answered with invalid json")
	}
	return s.parseJSON(out)
}

// readGateway finds its way through the forms of the gateway: header and body,
// with or without "response" around them; a list under the name of the service
// that holds "head" and "row"; "data" beside the counts. It is not ok for what
// is neither an object nor a list.
func readGateway(answer []byte) (got gatewayAnswer, ok bool) {
	trimmed := bytes.TrimSpace(answer)
	if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return got, false
	}
	top := members(answer)
	wrapped := members(top["response"])
	if wrapped == nil {
		wrapped = top
	}
	head, rows := serviceList(top)
	result := top
	for _, raw := range []json.RawMessage{wrapped["header"], wrapped["cmmMsgHeader"], head["RESULT"], top["RESULT"]} {
		if m := members(raw); m != nil {
			result = m
			break
		}
	}
	code := scalar(result["resultCode"])
	if n := scalar(top["code"]); code == "" && strings.HasPrefix(n, "-") {
		code = n // what refuses a call without an envelope
	}
	if code != "" {
		got.Code = &code
		if !gatewaySuccess.MatchString(code) {
			why := cmp.Or(scalar(result["resultMsg"]), scalar(top["msg"]), "no reason given")
			got.refusal = " (" + clip(code, 60) + "): " + why
			return got, true
		}
	}
	body := members(wrapped["body"])
	if body == nil {
		body = head
	}
	found := first(members(body["items"])["item"], body["items"], rows, top["data"])
	got.TotalCount = count(first(body["totalCount"], top["totalCount"]))
	got.PageNo = count(first(body["pageNo"], top["page"]))
	got.NumOfRows = count(first(body["numOfRows"], top["perPage"]))
	got.Items = entries(found)
	if found == nil && !slices.Contains(noData, code) {
		got.Raw = answer
	}
	return got, true
}

// serviceList is the head, made one, and the rows of the first member, in the
// order of names, that is a list which begins with a head.
func serviceList(top map[string]json.RawMessage) (head map[string]json.RawMessage, rows json.RawMessage) {
	names := make([]string, 0, len(top))
	for name := range top {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list := elements(top[name])
		if len(list) == 0 {
			continue
		}
		parts := elements(members(list[0])["head"])
		if len(parts) == 0 {
			continue
		}
		head = map[string]json.RawMessage{}
		for _, part := range parts {
			for k, v := range members(part) {
				head[k] = v
			}
		}
		if len(list) > 1 {
			rows = members(list[1])["row"]
		}
		return head, rows
	}
	return nil, nil
}

// entries are what was found as a list: one entry may come without a list
// around it, none as an empty text.
func entries(found json.RawMessage) []json.RawMessage {
	switch string(found) {
	case "", `""`, "false", "0":
		return []json.RawMessage{}
	}
	if list := elements(found); list != nil {
		return list
	}
	return []json.RawMessage{found}
}

// members are those of a JSON object, nil of anything else.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// elements are those of a JSON array, nil of anything else.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// first is the first that is there and not null.
func first(values ...json.RawMessage) json.RawMessage {
	for _, v := range values {
		if v != nil && string(v) != "null" {
			return v
		}
	}
	return nil
}

// scalar is the text of a JSON text or number, "" for anything else.
func scalar(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// count is a number that may be written as text, nil where it is none.
func count(raw json.RawMessage) *json.Number {
	x, err := strconv.ParseFloat(strings.TrimSpace(scalar(raw)), 64)
	if err != nil || x != x || x-x != 0 {
		return nil
	}
	n := json.Number(strconv.FormatFloat(x, 'g', -1, 64))
	return &n
}

// xmlNode is an element as safety.parser.xml gives it.
type xmlNode struct {
	Tag      string    `json:"tag"`
	Text     string    `json:"text"`
	Children []xmlNode `json:"children"`
}

// json appends the element as an object of its children by their tags, of
// which several of a tag are a list; an element without children is its text.
func (n xmlNode) json(out []byte) []byte {
	if len(n.Children) == 0 {
		return append(out, quoted(n.Text)...)
	}
	var tags []string
	byTag := map[string][]xmlNode{}
	for _, c := range n.Children {
		if _, known := byTag[c.Tag]; !known {
			tags = append(tags, c.Tag)
		}
		byTag[c.Tag] = append(byTag[c.Tag], c)
	}
	out = append(out, '{')
	for i, tag := range tags {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, quoted(tag)...), ':')
		list := byTag[tag]
		if len(list) == 1 {
			out = list[0].json(out)
			continue
		}
		for i, c := range list {
			out = append(out, "[,"[min(i, 1)])
			out = c.json(out)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string always has JSON
	return b
}
