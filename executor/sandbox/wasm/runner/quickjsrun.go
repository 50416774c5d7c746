package runner

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

// runScript makes a new QuickJS, runs one script in it and drops it.
func (m *module) runScript(ctx context.Context, r Request, s streams, mem *memory) frame.Report {
	env := environ(r.Env)
	src, err := readArgs(r.Argv, env["PWD"])
	if err != nil {
		return frame.Report{Code: codeUsage, Error: err.Error()}
	}
	code, err := src.text(m.folders, s.in)
	if err != nil {
		return frame.Report{Code: codeUsage, Error: err.Error()}
	}
	v := &vm{s: s}
	if r.Timeout > 0 {
		v.until = time.Now().Add(r.Timeout + tolerance)
	}
	v.ctx = context.WithValue(experimental.WithMemoryAllocator(ctx, mem), vmKey{}, v)
	config := m.config(r, s).WithStartFunctions("_initialize")
	if v.mod, err = m.runtime.InstantiateModule(v.ctx, m.compiled, config); err != nil {
		return outcome(err)
	}
	defer v.mod.Close(ctx)
	report := v.run(code, src, env, m.limit)
	switch {
	case v.late:
		return frame.Report{Code: codeKilled, TimedOut: true, Error: "the script was interrupted: its time was over"}
	case v.err == errNoRoom:
		return frame.Report{Code: 1, MemoryHit: true, Error: v.err.Error()}
	case v.err != nil:
		return outcome(v.err)
	}
	return report
}

// run runs the script and what it left to be done, and writes its value.
func (v *vm) run(code string, src source, env map[string]string, limit uint64) frame.Report {
	if int32(v.call("qjs_init")) != 0 {
		v.err = errNoRoom
	}
	v.call("qjs_set_memory_limit", scriptMemory(limit, uint64(v.mod.Memory().Size())))
	v.call("qjs_set_max_stack_size", maxStack)
	if !v.until.IsZero() {
		v.call("qjs_set_interrupt_handler", 1)
	}
	v.call("qjs_set_promise_rejection_handler", 1)
	given, err := json.Marshal(map[string]any{"args": append([]string{src.name}, src.args...), "env": env})
	if err != nil {
		return frame.Report{Code: codeUsage, Error: err.Error()}
	}
	show := v.apply(v.eval(prelude, "<prelude>", 0), v.hostFunction("write"), v.hostFunction("input"), v.newString(string(given)))
	if v.err == nil && v.is("qjs_is_exception", show) {
		v.err = errNoRoom
	}
	value := v.eval(code, src.name, evalAsync)
	if v.is("qjs_is_exception", value) {
		return v.thrown(show)
	}
	for v.err == nil && v.is("qjs_is_job_pending") {
		if v.interrupt() != 0 {
			return frame.Report{}
		}
		if int32(v.call("qjs_execute_pending_job")) < 0 {
			return v.thrown(show)
		}
	}
	return v.settled(value, show)
}

// The states of a promise.
const (
	pending  = 0
	rejected = 2
)

// settled is the end of a script whose promise is value, when nothing is left
// that could change it.
func (v *vm) settled(value, show uint64) frame.Report {
	object := v.call("qjs_get_value_ptr", value)
	state, result := v.call("qjs_promise_state", value), v.call("qjs_promise_result", value)
	switch {
	case v.err != nil:
		return frame.Report{}
	case state == pending:
		return frame.Report{Code: 1, Error: "the script waits for a promise that nothing settles"}
	case state == rejected:
		return v.failed(show, result)
	}
	for _, r := range v.rejected {
		if r.promise != object {
			return v.failed(show, r.why)
		}
	}
	if result = v.property(result, "value"); !v.is("qjs_is_undefined", result) {
		v.show(v.s.out, show, result)
	}
	return frame.Report{}
}

// thrown is the end of a script by the error that the last call left. That of
// the limit of QuickJS is one that no script catches.
func (v *vm) thrown(show uint64) frame.Report {
	err := v.call("qjs_get_exception")
	report := v.failed(show, err)
	if v.is("qjs_is_uncatchable_error", err) {
		var message strings.Builder
		v.print(&message, v.property(err, "message"), "")
		report.MemoryHit = message.String() == "out of memory"
	}
	return report
}

func (v *vm) failed(show, err uint64) frame.Report {
	v.show(v.s.err, show, err)
	return frame.Report{Code: 1}
}

// show writes a value, for which there is memory even where the script had
// none left.
func (v *vm) show(to io.Writer, show, value uint64) {
	v.call("qjs_set_memory_limit", 0)
	shown := v.apply(show, value)
	if v.is("qjs_is_exception", shown) { // by the script's own functions
		_, _ = io.WriteString(to, "a value that cannot be shown\n")
		return
	}
	v.print(to, shown, "\n")
}

// scriptMemory is the limit of QuickJS itself, so far below that of the module
// that what it allocates for itself still fits. size is what the module has
// before.
func scriptMemory(limit, size uint64) uint64 {
	room := limit - min(limit, size)
	return max(1, min(room-room/8, 1<<32-1))
}

func environ(list []string) map[string]string {
	env := map[string]string{}
	for _, e := range list {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return env
}
