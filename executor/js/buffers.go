package js

import "github.com/dop251/goja"

// installTransfer adds what the engine lacks of array buffers that have a
// fixed length.
func (s *session) installTransfer() {
	proto := s.member(s.member(s.vm.GlobalObject(), "ArrayBuffer"), "prototype")
	buffer := func(v goja.Value, name string) goja.ArrayBuffer {
		buf, ok := arrayBuffer(v)
		if !ok {
			s.throwError("TypeError", name+" was called on something that is no ArrayBuffer")
		}
		return buf
	}
	for _, name := range []string{"transfer", "transferToFixedLength"} {
		s.hiddenMethod(proto, name, func(call goja.FunctionCall) goja.Value {
			buf := buffer(call.This, name)
			if buf.Detached() {
				s.throwError("TypeError", name+": the buffer is detached")
			}
			old := buf.Bytes()
			n := int64(len(old))
			if v := call.Argument(0); !goja.IsUndefined(v) {
				n = v.ToInteger()
			}
			if n < 0 || n > maxBulk {
				s.throwError("RangeError", name+": the length is not supported")
			}
			moved := make([]byte, n)
			copy(moved, old)
			buf.Detach()
			return s.vm.ToValue(s.vm.NewArrayBuffer(moved))
		})
	}
	getter := func(name string, f func(goja.ArrayBuffer) any) {
		_ = proto.DefineAccessorProperty(name, s.function("get "+name, func(call goja.FunctionCall) goja.Value {
			return s.vm.ToValue(f(buffer(call.This, name)))
		}), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	getter("detached", func(b goja.ArrayBuffer) any { return b.Detached() })
	getter("resizable", func(goja.ArrayBuffer) any { return false })
}
