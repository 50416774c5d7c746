package js

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

const fetchHelper = "fetch"

// maxFetchHeaders bounds the native loop that collects them; the gate allows
// fewer.
const maxFetchHeaders = 1000

// fetchInit is the second argument as it goes to the broker.
type fetchInit struct {
	Method     string            `json:"method,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       any               `json:"body,omitempty"` // string or bytesJSON
	MaxLength  *int64            `json:"maxLength,omitempty"`
	StartIndex *int64            `json:"startIndex,omitempty"`
}

type bytesJSON struct {
	Bytes []byte `json:"$bytes"`
}

// fetched is the broker's answer.
type fetched struct {
	Status         int         `json:"status"`
	StatusText     string      `json:"statusText"`
	URL            string      `json:"url"`
	ContentType    *string     `json:"contentType"`
	Headers        [][2]string `json:"headers"`
	Body           bytesJSON   `json:"body"`
	Truncated      bool        `json:"truncated"`
	NextStartIndex *int64      `json:"nextStartIndex"`
}

// fetch is synchronous and returns a response that may also be awaited.
func (s *session) fetch(call goja.FunctionCall) goja.Value {
	target := ""
	if v := call.Argument(0); !goja.IsUndefined(v) && !goja.IsNull(v) {
		target = s.fetchText(v) // once: the next text of an object may be another
	}
	if strings.TrimSpace(target) == "" {
		s.refuse(fault.InvalidInput, fetchHelper, "missing-url", "[fetch] the url is missing")
	}
	init := fetchInit{}
	if opts, ok := call.Argument(1).(*goja.Object); ok {
		init = s.fetchInit(opts)
	}
	args, err := json.Marshal([]any{target, init})
	if err != nil || len(args) > maxRequest {
		s.refuse(fault.InvalidInput, fetchHelper, "input-too-large", "[fetch] the request is larger than 16 MiB")
	}
	var res fetched
	if err := json.Unmarshal(s.ask(worker.OpFetch, fetchHelper, args), &res); err != nil {
		s.refuse(fault.HelperRuntime, fetchHelper, "bad-answer", "[fetch] the helper gave an answer that cannot be read")
	}
	return s.dual(s.response(&res), func() goja.Value { return s.response(&res) })
}

func (s *session) fetchInit(opts *goja.Object) fetchInit {
	init := fetchInit{Headers: map[string]string{}}
	get := func(name string) (goja.Value, bool) {
		v := orUndefined(opts.Get(name))
		return v, !goja.IsUndefined(v) && !goja.IsNull(v)
	}
	if v, ok := get("method"); ok {
		init.Method = strings.ToUpper(s.fetchText(v))
	}
	if v, ok := get("headers"); ok {
		s.headers(v, init.Headers)
	}
	number := func(name string) *int64 {
		v, ok := get(name)
		if !ok {
			return nil
		}
		n := v.ToInteger()
		return &n
	}
	init.MaxLength, init.StartIndex = number("maxLength"), number("startIndex")
	v, ok := get("body")
	if !ok {
		return init
	}
	if b, isBytes := s.bytesOf(v); isBytes {
		init.Body = bytesJSON{b}
		return init
	}
	if obj, isObj := v.(*goja.Object); isObj && obj.ClassName() != "String" {
		if _, isParams := s.reveal(obj).(*searchParams); !isParams {
			s.refuse(fault.InvalidInput, fetchHelper, "invalid-body", "[fetch] the body must be a string, bytes or URLSearchParams; use JSON.stringify for an object")
		}
		setDefault(init.Headers, "Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	}
	init.Body = s.fetchText(v)
	return init
}

// fetchText is String(v), but that a symbol has no text.
func (s *session) fetchText(v goja.Value) string {
	if _, ok := v.(*goja.Symbol); ok {
		s.throwError("TypeError", "Cannot convert a Symbol value to a string")
	}
	return v.String()
}

func setDefault(h map[string]string, name, value string) {
	for k := range h {
		if strings.EqualFold(k, name) {
			return
		}
	}
	h[name] = value
}

// headers reads pairs, an object with entries(), or a plain object.
func (s *session) headers(v goja.Value, out map[string]string) {
	obj, ok := v.(*goja.Object)
	if !ok {
		s.refuse(fault.InvalidInput, fetchHelper, "invalid-headers", "[fetch] headers must be an object or a list of pairs")
	}
	tooMany := func() {
		s.refuse(fault.InvalidInput, fetchHelper, "invalid-headers", "[fetch] there are more than 1000 headers")
	}
	add := func(name, value string) {
		if strings.ContainsFunc(name+value, func(r rune) bool { return r > 0xff }) {
			s.refuse(fault.InvalidInput, fetchHelper, "invalid-headers", "[fetch] the header "+strconv.Quote(clip(name, 100))+" has characters beyond Latin-1; encode them")
		}
		for k := range out {
			if strings.EqualFold(k, name) {
				out[k] += ", " + value
				return
			}
		}
		out[name] = value
	}
	_, iterable := goja.AssertFunction(orUndefined(obj.GetSymbol(goja.SymIterator)))
	if !iterable {
		keys := obj.Keys()
		if len(keys) > maxFetchHeaders {
			tooMany()
		}
		for _, k := range keys {
			add(k, s.fetchText(orUndefined(obj.Get(k))))
		}
		return
	}
	n := 0
	s.vm.ForOf(obj, func(pair goja.Value) bool {
		if n++; n > maxFetchHeaders {
			tooMany()
		}
		p, ok := pair.(*goja.Object)
		if !ok || p.Get("1") == nil {
			s.refuse(fault.InvalidInput, fetchHelper, "invalid-headers", "[fetch] headers must be an object or a list of pairs")
		}
		add(s.fetchText(orUndefined(p.Get("0"))), s.fetchText(orUndefined(p.Get("1"))))
		return true
	})
}

// response makes the object; its methods are shared by all of a call.
func (s *session) response(res *fetched) *goja.Object {
	if s.protos.response == nil {
		s.protos.response = s.responseProto()
	}
	obj := s.vm.CreateObject(s.protos.response)
	set := func(name string, v any) { _ = obj.Set(name, v) }
	set("status", res.Status)
	set("ok", res.Status >= 200 && res.Status <= 299)
	set("statusText", res.StatusText)
	set("url", res.URL)
	set("contentType", goja.Null())
	if res.ContentType != nil {
		set("contentType", *res.ContentType)
	}
	set("truncated", res.Truncated)
	set("nextStartIndex", goja.Null())
	if res.NextStartIndex != nil {
		set("nextStartIndex", *res.NextStartIndex)
	}
	s.constant(obj, "headers", s.headersObject(res.Headers))
	s.hide(obj, res)
	return obj
}

func (s *session) responseProto() *goja.Object {
	proto := s.vm.NewObject()
	method := func(name string, f func(res *fetched) goja.Value) {
		s.hiddenMethod(proto, name, func(call goja.FunctionCall) goja.Value {
			res, ok := s.reveal(call.This).(*fetched)
			if !ok {
				s.throwError("TypeError", name+" was called on something that is not a response")
			}
			return f(res)
		})
	}
	method("text", func(res *fetched) goja.Value { return s.vm.ToValue(decodeUTF8(trimBOM(res.Body.Bytes))) })
	method("json", func(res *fetched) goja.Value {
		text := decodeUTF8(trimBOM(res.Body.Bytes))
		if nesting(text) > maxJSONDepth {
			s.refuse(fault.HelperRuntime, fetchHelper, "invalid-json", "[fetch] invalid json: it nests too deeply")
		}
		var v goja.Value
		if ex := s.vm.Try(func() { v = s.native.jsonParse(goja.Undefined(), s.vm.ToValue(text)) }); ex != nil {
			hint := ""
			if res.Truncated {
				hint = "; the body was cut at maxLength"
			}
			s.refuse(fault.HelperRuntime, fetchHelper, "invalid-json", "[fetch] invalid json"+hint)
		}
		return v
	})
	method("arrayBuffer", func(res *fetched) goja.Value {
		return s.vm.ToValue(s.vm.NewArrayBuffer(append([]byte(nil), res.Body.Bytes...)))
	})
	method("bytes", func(res *fetched) goja.Value { return s.bytesValue(append([]byte(nil), res.Body.Bytes...)) })
	s.hiddenMethod(proto, "check", s.checkResponse)
	return proto
}

func trimBOM(b []byte) []byte {
	if len(b) >= 3 && string(b[:3]) == "\uFEFF" {
		return b[3:]
	}
	return b
}

// headerList is the Go side of a response's headers: lower-case names in the
// order of their first use, repeated ones joined.
type headerList struct {
	order  []string
	joined map[string]string
}

func newHeaderList(pairs [][2]string) *headerList {
	h := &headerList{joined: map[string]string{}}
	for _, p := range pairs {
		k := strings.ToLower(p[0])
		if old, ok := h.joined[k]; ok {
			h.joined[k] = old + ", " + p[1]
			continue
		}
		h.joined[k] = p[1]
		h.order = append(h.order, k)
	}
	return h
}

// headersObject has the reading half of the Headers interface.
func (s *session) headersObject(pairs [][2]string) *goja.Object {
	if s.protos.headers == nil {
		s.protos.headers = s.headersProto()
	}
	obj := s.vm.CreateObject(s.protos.headers)
	s.hide(obj, newHeaderList(pairs))
	return obj
}

func (s *session) headersProto() *goja.Object {
	proto := s.vm.NewObject()
	method := func(name string, f func(h *headerList, call goja.FunctionCall) goja.Value) {
		s.hiddenMethod(proto, name, func(call goja.FunctionCall) goja.Value {
			h, ok := s.reveal(call.This).(*headerList)
			if !ok {
				s.throwError("TypeError", name+" was called on something that is not a list of headers")
			}
			return f(h, call)
		})
	}
	method("get", func(h *headerList, call goja.FunctionCall) goja.Value {
		if v, ok := h.joined[strings.ToLower(call.Argument(0).String())]; ok {
			return s.vm.ToValue(v)
		}
		return goja.Null()
	})
	method("has", func(h *headerList, call goja.FunctionCall) goja.Value {
		_, ok := h.joined[strings.ToLower(call.Argument(0).String())]
		return s.vm.ToValue(ok)
	})
	method("forEach", func(h *headerList, call goja.FunctionCall) goja.Value {
		fn, ok := s.callable(call.Argument(0))
		if !ok {
			s.throwError("TypeError", "forEach needs a function")
		}
		for _, k := range h.order {
			fn(call.Argument(1), s.vm.ToValue(h.joined[k]), s.vm.ToValue(k), call.This)
		}
		return goja.Undefined()
	})
	list := func(entry func(h *headerList, k string) goja.Value) func(*headerList, goja.FunctionCall) goja.Value {
		return func(h *headerList, _ goja.FunctionCall) goja.Value {
			arr := s.vm.NewArray()
			for i, k := range h.order {
				_ = arr.Set(strconv.Itoa(i), entry(h, k))
			}
			return s.iterator(arr)
		}
	}
	method("entries", list(func(h *headerList, k string) goja.Value { return s.vm.NewArray(k, h.joined[k]) }))
	method("keys", list(func(_ *headerList, k string) goja.Value { return s.vm.ToValue(k) }))
	method("values", list(func(h *headerList, k string) goja.Value { return s.vm.ToValue(h.joined[k]) }))
	_ = proto.DefineDataPropertySymbol(goja.SymIterator, proto.Get("entries"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return proto
}

// iterator is an iterator over an array.
func (s *session) iterator(arr *goja.Object) goja.Value {
	return s.native.arrayValues(arr)
}
