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
	target := call.Argument(0)
	if goja.IsUndefined(target) || goja.IsNull(target) || strings.TrimSpace(target.String()) == "" {
		s.refuse(fault.InvalidInput, fetchHelper, "missing-url", "[fetch] the url is missing")
	}
	init := fetchInit{}
	if opts, ok := call.Argument(1).(*goja.Object); ok {
		init = s.fetchInit(opts)
	}
	args, err := json.Marshal([]any{target.String(), init})
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
		init.Method = strings.ToUpper(v.String())
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
	init.Body = v.String()
	return init
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
	add := func(name, value string) {
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
		for _, k := range obj.Keys() {
			add(k, orUndefined(obj.Get(k)).String())
		}
		return
	}
	n := 0
	s.vm.ForOf(obj, func(pair goja.Value) bool {
		p, ok := pair.(*goja.Object)
		if n++; !ok || n > 1000 {
			s.refuse(fault.InvalidInput, fetchHelper, "invalid-headers", "[fetch] headers must be an object or a list of pairs")
		}
		add(orUndefined(p.Get("0")).String(), orUndefined(p.Get("1")).String())
		return true
	})
}

func (s *session) response(res *fetched) *goja.Object {
	obj := s.vm.NewObject()
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
	body := res.Body.Bytes
	s.hiddenMethod(obj, "text", func(goja.FunctionCall) goja.Value {
		return s.vm.ToValue(decodeUTF8(trimBOM(body)))
	})
	s.hiddenMethod(obj, "json", func(goja.FunctionCall) goja.Value {
		text := decodeUTF8(trimBOM(body))
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
	s.hiddenMethod(obj, "arrayBuffer", func(goja.FunctionCall) goja.Value {
		return s.vm.ToValue(s.vm.NewArrayBuffer(append([]byte(nil), body...)))
	})
	s.hiddenMethod(obj, "bytes", func(goja.FunctionCall) goja.Value {
		return s.bytesValue(append([]byte(nil), body...))
	})
	return obj
}

func trimBOM(b []byte) []byte {
	if len(b) >= 3 && string(b[:3]) == "\uFEFF" {
		return b[3:]
	}
	return b
}

// headersObject has the reading half of the Headers interface.
func (s *session) headersObject(pairs [][2]string) *goja.Object {
	joined := map[string]string{}
	var order []string
	for _, p := range pairs {
		k := strings.ToLower(p[0])
		if old, ok := joined[k]; ok {
			joined[k] = old + ", " + p[1]
			continue
		}
		joined[k] = p[1]
		order = append(order, k)
	}
	obj := s.vm.NewObject()
	s.hiddenMethod(obj, "get", func(call goja.FunctionCall) goja.Value {
		if v, ok := joined[strings.ToLower(call.Argument(0).String())]; ok {
			return s.vm.ToValue(v)
		}
		return goja.Null()
	})
	s.hiddenMethod(obj, "has", func(call goja.FunctionCall) goja.Value {
		_, ok := joined[strings.ToLower(call.Argument(0).String())]
		return s.vm.ToValue(ok)
	})
	s.hiddenMethod(obj, "forEach", func(call goja.FunctionCall) goja.Value {
		fn, ok := s.callable(call.Argument(0))
		if !ok {
			s.throwError("TypeError", "forEach needs a function")
		}
		for _, k := range order {
			fn(call.Argument(1), s.vm.ToValue(joined[k]), s.vm.ToValue(k), obj)
		}
		return goja.Undefined()
	})
	list := func(entry func(k string) goja.Value) func(goja.FunctionCall) goja.Value {
		return func(goja.FunctionCall) goja.Value {
			arr := s.vm.NewArray()
			for i, k := range order {
				_ = arr.Set(strconv.Itoa(i), entry(k))
			}
			return s.iterator(arr)
		}
	}
	entries := list(func(k string) goja.Value { return s.vm.NewArray(k, joined[k]) })
	s.hiddenMethod(obj, "entries", entries)
	s.hiddenMethod(obj, "keys", list(func(k string) goja.Value { return s.vm.ToValue(k) }))
	s.hiddenMethod(obj, "values", list(func(k string) goja.Value { return s.vm.ToValue(joined[k]) }))
	_ = obj.DefineDataPropertySymbol(goja.SymIterator, s.function("entries", entries), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return obj
}

// iterator is an iterator over an array.
func (s *session) iterator(arr *goja.Object) goja.Value {
	return s.native.arrayValues(arr)
}
