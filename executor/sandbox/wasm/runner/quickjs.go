package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// The functions by which a module is taken for QuickJS in the form of the npm
// package quickjs-wasi: a library, that wants a host around it.
var quickJS = []string{"_initialize", "qjs_init", "qjs_eval", "qjs_call", "qjs_new_host_function", "qjs_set_memory_limit", "wasm_malloc"}

// isQuickJS tells whether a module without _start is one that this driver
// knows.
func isQuickJS[T any](exports map[string]T) bool {
	if _, command := exports["_start"]; command {
		return false
	}
	for _, name := range quickJS {
		if _, ok := exports[name]; !ok {
			return false
		}
	}
	return true
}

const (
	// evalAsync allows await outside of functions; the value is a promise of
	// an object whose value is that of the script.
	evalAsync = 1 << 7
	// tolerance is how much later than its time a script is interrupted from
	// within. The kill from outside comes first as a rule.
	tolerance = 250 * time.Millisecond
	// maxStack is what QuickJS may use of the stack of the module, which is
	// four times as large: it looks at calls, not at all that they need.
	maxStack = 256 << 10
	// maxRejections bounds the promises that are remembered as rejected.
	maxRejections = 100
)

// prelude makes what a script finds, and gives the function that shows a
// value.
const prelude = `(write, input, text) => {
	const given = JSON.parse(text);
	const show = v => {
		if (v instanceof Error) return v.stack ? v + "\n" + v.stack.trimEnd() : String(v);
		if (typeof v === "object" && v !== null) {
			try { const s = JSON.stringify(v); if (s !== undefined) return s } catch {}
		}
		return String(v);
	};
	const to = stream => (...all) => { write(stream, all.map(show).join(" ") + "\n") };
	const out = to(1), err = to(2);
	const all = {
		print: out,
		console: { log: out, info: out, debug: out, warn: err, error: err },
		scriptArgs: given.args,
		std: { in: { readAsString: input }, getenv: name => given.env[name] },
	};
	for (const name in all)
		Object.defineProperty(globalThis, name, { value: all[name], writable: true, configurable: true });
	return show;
}`

// vm is one QuickJS with one script.
type vm struct {
	ctx   context.Context
	mod   api.Module
	s     streams
	until time.Time // when it is interrupted; zero = never
	late  bool
	// rejected are the promises whose error nobody has asked for yet.
	rejected []rejection
	err      error // the first call that did not come back
}

// rejection is a promise, by its object, and the handle of its error.
type rejection struct{ promise, why uint64 }

type vmKey struct{}

// hostFunctions are what QuickJS imports beside WASI.
func (m *module) hostFunctions(ctx context.Context) error {
	b := m.runtime.NewHostModuleBuilder("env")
	for name, f := range map[string]any{
		"host_call":                hostCall,
		"host_interrupt":           func(ctx context.Context) uint32 { return from(ctx).interrupt() },
		"host_promise_rejection":   func(ctx context.Context, p, why, handled uint32) { from(ctx).reject(p, why, handled) },
		"host_module_normalize":    func(uint32, uint32) uint32 { return 0 }, // there are no modules
		"host_module_load":         func(uint32, uint32) uint32 { return 0 },
		"host_get_timezone_offset": func(uint32, uint32) uint32 { return 0 }, // UTC
	} {
		b.NewFunctionBuilder().WithFunc(f).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func from(ctx context.Context) *vm { return ctx.Value(vmKey{}).(*vm) }

func (v *vm) interrupt() uint32 {
	if v.until.IsZero() || time.Now().Before(v.until) {
		return 0
	}
	v.late = true
	return 1
}

func (v *vm) reject(promise, why, handled uint32) {
	object := v.call("qjs_get_value_ptr", uint64(promise))
	v.call("qjs_free_value", uint64(promise))
	if handled == 0 && len(v.rejected) < maxRejections {
		v.rejected = append(v.rejected, rejection{object, uint64(why)})
		return
	}
	v.call("qjs_free_value", uint64(why))
	v.rejected = slices.DeleteFunc(v.rejected, func(r rejection) bool {
		if handled == 0 || r.promise != object {
			return false
		}
		v.call("qjs_free_value", r.why)
		return true
	})
}

// hostCall is what a function of the prelude calls. What it returns is a value
// of the script's, or 0 for an error.
func hostCall(ctx context.Context, mod api.Module, name, length, _, _, argv uint32) uint32 {
	v := from(ctx)
	called, _ := mod.Memory().Read(name, length)
	switch string(called) {
	case "write":
		to, _ := mod.Memory().ReadUint32Le(argv)
		text, _ := mod.Memory().ReadUint32Le(argv + 4)
		stream := v.s.out
		if api.DecodeF64(v.call("qjs_get_float64", uint64(to))) == 2 {
			stream = v.s.err
		}
		v.print(stream, uint64(text), "")
		return uint32(v.call("qjs_get_undefined"))
	case "input":
		text, err := source{read: true}.text(nil, v.s.in)
		if err != nil {
			v.call("qjs_throw", v.newString(err.Error()))
			return 0
		}
		return uint32(v.newString(text))
	}
	return 0
}

// call calls an export. After the first that fails none is called any more,
// and err says why.
func (v *vm) call(name string, args ...uint64) uint64 {
	if v.err != nil {
		return 0
	}
	f := v.mod.ExportedFunction(name)
	if f == nil {
		v.err = fmt.Errorf("the module is taken for QuickJS and exports no %s", name)
		return 0
	}
	results, err := f.Call(v.ctx, args...)
	if err != nil {
		v.err = err
		return 0
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

func (v *vm) is(name string, args ...uint64) bool { return uint32(v.call(name, args...)) != 0 }

// write puts text with a zero byte behind it into the memory of the module,
// which has it until free.
func (v *vm) write(text string) (at uint64) {
	at = v.call("wasm_malloc", uint64(len(text)+1))
	if v.err == nil && (at == 0 || !v.mod.Memory().WriteString(uint32(at), text+"\x00")) {
		v.err = errNoRoom
	}
	return at
}

// errNoRoom: even without a script there is too little memory.
var errNoRoom = errors.New("the script does not fit into the memory of the sandbox")

func (v *vm) newString(text string) uint64 {
	at := v.write(text)
	value := v.call("qjs_new_string", at, uint64(len(text)))
	v.call("wasm_free", at)
	return value
}

// print writes a value that is a string, and more. It is not copied: it may
// be most of what memory there is.
func (v *vm) print(to io.Writer, value uint64, more string) {
	length := v.call("wasm_malloc", 4)
	at := v.call("qjs_get_string_len", value, length)
	if v.err != nil || at == 0 || length == 0 {
		return
	}
	n, _ := v.mod.Memory().ReadUint32Le(uint32(length))
	text, _ := v.mod.Memory().Read(uint32(at), n)
	_, _ = to.Write(text) // a stream that is closed is not the script's fault
	_, _ = io.WriteString(to, more)
	v.call("qjs_free_cstring", at)
	v.call("wasm_free", length)
}

func (v *vm) property(of uint64, name string) uint64 {
	at := v.write(name)
	value := v.call("qjs_get_prop_string", of, at)
	v.call("wasm_free", at)
	return value
}

// eval runs code and gives its value.
func (v *vm) eval(code, name string, flags uint64) uint64 {
	text, title := v.write(code), v.write(name)
	value := v.call("qjs_eval", text, uint64(len(code)), title, flags)
	v.call("wasm_free", text)
	v.call("wasm_free", title)
	return value
}

// apply calls a function of the script's.
func (v *vm) apply(f uint64, args ...uint64) uint64 {
	list := v.call("wasm_malloc", uint64(4*len(args)+4))
	for i, a := range args {
		if v.err == nil && !v.mod.Memory().WriteUint32Le(uint32(list)+4*uint32(i), uint32(a)) {
			v.err = errNoRoom
		}
	}
	value := v.call("qjs_call", f, v.call("qjs_get_undefined"), uint64(len(args)), list)
	v.call("wasm_free", list)
	return value
}

// hostFunction is a function of the script's that comes to hostCall.
func (v *vm) hostFunction(name string) uint64 {
	at := v.write(name)
	return v.call("qjs_new_host_function", at, uint64(len(name)), 0)
}
