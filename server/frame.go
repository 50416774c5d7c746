package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
)

// rpcError is a protocol error before there is a result.
type rpcError struct {
	code    int
	message string
}

// frame is the envelope of one JSON-RPC message.
type frame struct {
	id     jsontext.Value // as sent; nil for a notification
	method string         // "" for a response
	params jsontext.Value // nil when absent
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
		return f, &rpcError{codeInvalidRequest, "batches are not supported: send one message per request"}
	case 0:
		return f, parseError(dec)
	default:
		return f, &rpcError{codeInvalidRequest, "a message is a JSON object"}
	}
	_, _ = dec.ReadToken() // the brace just seen
	var bad *rpcError
	invalid := func(text string) {
		if bad == nil {
			bad = &rpcError{codeInvalidRequest, text}
		}
	}
	version, hasMethod, hasID := false, false, false
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
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return f, syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return f, &rpcError{codeParse, "something follows the message"}
	}
	f.silent = hasMethod && !hasID
	switch {
	case !version:
		invalid(`"jsonrpc" is "2.0"`)
	case hasMethod && f.method == "":
		invalid("the method is empty")
	case !hasMethod && f.id == nil:
		invalid("neither a method nor an id")
	}
	return f, bad
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
		return &rpcError{codeParse, "an object has the same name twice"}
	case errors.As(err, &syn):
		return &rpcError{codeParse, "not valid JSON at byte " + strconv.FormatInt(syn.ByteOffset, 10)}
	}
	return &rpcError{codeParse, "not valid JSON: it ends too early"}
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

// metaVersion is the protocol version that a 2026-07-28 request names in its
// _meta, or "".
func (f frame) metaVersion() string {
	if !bytes.Contains(f.params, []byte("protocolVersion")) {
		return ""
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var v string
	if json.Unmarshal(f.params, &p) != nil || json.Unmarshal(p.Meta[metaProtocolVersion], &v) != nil {
		return ""
	}
	return v
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
	}{e.code, e.message}})
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

// check finds what the library would answer without a JSON-RPC error in the
// versions before 2026-07-28.
func (f frame) check() *rpcError {
	switch {
	case !f.isCall():
		return nil
	case !knownMethod(f.method):
		return &rpcError{codeMethodNotFound, "unknown method"}
	case f.params == nil && (f.method == methodCall || f.method == "initialize"):
		return &rpcError{codeInvalidParams, "params are missing"}
	}
	return nil
}
