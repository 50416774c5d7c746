package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC 2.0 error codes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeHeaderMismatch = -32020 // MCP 2026-07-28, HeaderMismatchError
	codeVersion        = -32022 // MCP 2026-07-28, UnsupportedProtocolVersionError
)

// rpcError is a protocol error before there is a result.
type rpcError struct {
	code    int
	message string
	data    any // nil = none
}

// frame is the envelope of one JSON-RPC message.
type frame struct {
	id     jsontext.Value // as sent; nil for a notification
	method string         // "" for a response
	params jsontext.Value // nil when absent
	meta   metaOf
	// silent: a notification, to which nothing is ever answered.
	silent bool
}

func (f frame) isCall() bool     { return f.method != "" && f.id != nil }
func (f frame) isResponse() bool { return f.method == "" }

// key names the id independently of how it is spelled.
func (f frame) key() string {
	if f.id == nil {
		return ""
	}
	if f.id.Kind() == '"' {
		s, _ := jsontext.AppendUnquote(nil, f.id)
		return "s" + string(s)
	}
	return "n" + string(f.id)
}

// parseFrame checks one message before any other parser sees it: valid UTF-8,
// no name twice in any object (two parsers could pick different ones), one
// object and nothing after it, no batch (removed in 2025-06-18), an id that
// is a string or a whole number, a method that is a string. The frame is
// filled as far as it was understood, so that an error can name the id.
func parseFrame(body []byte) (frame, *rpcError) {
	var f frame
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	switch dec.PeekKind() {
	case '{':
	case '[':
		return f, &rpcError{code: codeInvalidRequest, message: "batches are not supported: send one message per request"}
	case 0:
		return f, parseError(dec)
	default:
		return f, &rpcError{code: codeInvalidRequest, message: "a message is a JSON object"}
	}
	_, _ = dec.ReadToken() // the brace just seen
	var bad *rpcError
	invalid := func(text string) {
		if bad == nil {
			bad = &rpcError{code: codeInvalidRequest, message: text}
		}
	}
	version, hasMethod, hasID, hasOutcome := false, false, false, false
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return f, syntaxError(err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return f, syntaxError(err)
		}
		switch key {
		case "jsonrpc":
			version = string(value) == `"2.0"`
		case "id":
			hasID = true
			if !validID(value) {
				invalid("the id is a string or a whole number")
				continue
			}
			f.id = value.Clone()
		case "method":
			hasMethod = true
			if value.Kind() != '"' {
				invalid("the method is a string")
				continue
			}
			s, _ := jsontext.AppendUnquote(nil, value)
			f.method = string(s)
		case "params":
			if value.Kind() != '{' {
				invalid("the params are an object")
				continue
			}
			f.params = value.Clone()
		case "result", "error":
			hasOutcome = true
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return f, syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return f, &rpcError{code: codeParse, message: "something follows the message"}
	}
	f.silent = hasMethod && !hasID
	f.meta = metaIn(f)
	switch {
	case !version:
		invalid(`"jsonrpc" is "2.0"`)
	case hasMethod && f.method == "":
		invalid("the method is empty")
	case !hasMethod && f.id == nil:
		invalid("neither a method nor an id")
	case !hasMethod && !hasOutcome:
		invalid("neither a method nor a result nor an error")
	case f.method == methodCall && !hasID:
		invalid("a call has an id")
	}
	return f, bad
}

// meant reads what a message that is refused was to be, as far as it can be
// told: a call where any reader could take it for one. It is for the record
// alone, and forgives what parseFrame refuses; of a batch it is the first call.
func meant(body []byte) frame {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '[' {
		return meantObject(dec)
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '{' {
		if f := meantObject(dec); f.method == methodCall {
			return f
		}
	}
	return frame{}
}

func meantObject(dec *jsontext.Decoder) (f frame) {
	if dec.PeekKind() != '{' {
		return f
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return f
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return f
		}
		switch {
		case key == "method" && value.Kind() == '"':
			if s, err := jsontext.AppendUnquote(nil, value); err == nil && string(s) == methodCall {
				f.method = methodCall
			}
		case key == "params" && f.params == nil:
			f.params = value.Clone()
		}
	}
	_, _ = dec.ReadToken()
	return f
}

func parseError(dec *jsontext.Decoder) *rpcError {
	_, err := dec.ReadToken()
	return syntaxError(err)
}

// syntaxError describes what is wrong without repeating what was sent.
func syntaxError(err error) *rpcError {
	var syn *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &rpcError{code: codeParse, message: "an object has the same name twice"}
	case errors.As(err, &syn):
		return &rpcError{code: codeParse, message: "not valid JSON at byte " + strconv.FormatInt(syn.ByteOffset, 10)}
	}
	return &rpcError{code: codeParse, message: "not valid JSON: it ends too early"}
}

// validID accepts strings and whole numbers that JavaScript keeps exact.
func validID(v jsontext.Value) bool {
	switch v.Kind() {
	case '"':
		return true
	case '0':
		n, err := strconv.ParseInt(string(v), 10, 64)
		return err == nil && n >= -(1<<53-1) && n <= 1<<53-1
	}
	return false
}

// metaOf is what the _meta of a request says about the way of its answer.
type metaOf struct {
	version string // the protocol version that a 2026-07-28 request names, or ""
	// stream: something is wanted that comes before the answer.
	stream bool
}

// metaIn reads it. A name spelled with escapes is not found: the library refuses
// what it then takes for another version than it is served as.
func metaIn(f frame) (m metaOf) {
	if !bytes.Contains(f.params, []byte(`"_meta"`)) {
		return m
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(f.params, &p) != nil {
		return m
	}
	_ = json.Unmarshal(p.Meta[metaProtocolVersion], &m.version) // what is no text names no version
	m.stream = f.isCall() && (len(p.Meta[metaProgress]) > 0 || len(p.Meta[metaLogLevel]) > 0)
	return m
}

// toolName is the tool that a tools/call names, or "".
func (f frame) toolName() string {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(f.params, &p) != nil {
		return ""
	}
	return cut(p.Name, maxToolName)
}

// maxToolName bounds what is recorded of the name of a tool in a message that
// was refused, in bytes.
const maxToolName = 256

func cut(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// answer is the JSON-RPC response that carries e.
func (e *rpcError) answer(f frame) []byte {
	id := json.RawMessage("null")
	if f.id != nil {
		id = json.RawMessage(f.id)
	}
	b, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{e.code, e.message, e.data}})
	if err != nil { // cannot be: the id was checked
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return b
}

// knownMethod reports whether a call of this method means anything in any
// protocol version served here.
func knownMethod(m string) bool {
	switch m {
	case "initialize", "ping", "server/discover", methodList, methodCall,
		"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel",
		"subscriptions/listen":
		return true
	}
	return strings.HasPrefix(m, "notifications/")
}

// badVersion refuses a message whose header and _meta name two protocol versions,
// or one that nobody here speaks. An initialize request negotiates its version,
// and is never refused for the one it asks for.
func badVersion(f frame, header string) *rpcError {
	meta := f.meta.version
	if header != "" && meta != "" && header != meta {
		return &rpcError{code: codeHeaderMismatch, message: "the " + headerVersion + " header and the _meta of the request name two protocol versions"}
	}
	if v := cmp.Or(header, meta); v != "" && !slices.Contains(versionsServed, v) {
		return &rpcError{codeVersion, "unsupported protocol version", map[string]any{"supported": versionsServed, "requested": cut(v, 64)}}
	}
	return nil
}

// check finds what the library would answer without a JSON-RPC error in the
// versions before 2026-07-28.
func (f frame) check() *rpcError {
	switch {
	case !f.isCall():
		return nil
	case !knownMethod(f.method):
		return &rpcError{code: codeMethodNotFound, message: "unknown method"}
	case f.params == nil && (f.method == methodCall || f.method == "initialize"):
		return &rpcError{code: codeInvalidParams, message: "params are missing"}
	}
	return nil
}
