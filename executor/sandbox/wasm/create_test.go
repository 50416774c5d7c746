package wasm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm"
	"github.com/toolwarrant/toolwarrant/fault"
)

// A module by hand: sections, each with its length.
func section(id byte, body string) string { return string(id) + string(rune(len(body))) + body }

const preamble = "\x00asm\x01\x00\x00\x00"

// module is one whose _start has the given code.
func module(code string, more ...string) string {
	return preamble + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + strings.Join(more, "") +
		section(7, "\x01\x06_start\x00\x00") + section(10, "\x01"+string(rune(len(code)+2))+"\x00"+code+"\x0b")
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestImages(t *testing.T) {
	good := file(t, "good.wasm", module(""))
	for _, image := range []string{good, "wasm:" + good} {
		if r := do(t, create(t, inner(t), sandbox.Spec{Image: image})); r.ExitCode != 0 {
			t.Errorf("%s: %+v", image, r)
		}
	}
	dir := t.TempDir()
	sparse := filepath.Join(dir, "sparse.wasm")
	if f, err := os.Create(sparse); err != nil {
		t.Fatal(err)
	} else {
		f.WriteString(preamble)
		if err := errors.Join(f.Truncate(1<<30), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, image := range map[string]string{
		"none": "", "relative": "wasm:good.wasm", "host": "host", "not there": "/nowhere/x.wasm", "a folder": "wasm:" + dir,
		"a device": "wasm:/dev/zero", "no module": file(t, "a.wasm", "#!/bin/sh\n"), "empty": file(t, "b.wasm", ""),
		"cut": file(t, "c.wasm", "\x00asm"), "another version": file(t, "d.wasm", "\x00asm\x02\x00\x00\x00"),
		"a component": file(t, "e.wasm", "\x00asm\x0d\x00\x01\x00"), "too large": sparse,
	} {
		_, err := factory(inner(t)).Create(t.Context(), sandbox.Spec{Image: image, Limits: limits()})
		var f *fault.Error
		if !errors.Is(err, sandbox.ErrImage) || !errors.As(err, &f) || f.Message == sandbox.ErrImage.Message {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestModules are small ones that go wrong in their own ways.
func TestModules(t *testing.T) {

	for _, c := range []struct {
		name, module string
		code         int
		hit          sandbox.Dimension
		says         string
	}{
		{"a trap", module("\x00"), 134, "", "unreachable"},
		{"recursion", module("\x10\x00"), 134, "", "stack overflow"},
		{"growth to the limit", module("\x41\x0a\x40\x00\x1a", section(5, "\x01\x00\x01")), 0, "", ""},
		{"growth beyond it", module("\x41\x80\x10\x40\x00\x1a", section(5, "\x01\x00\x01")), 0, sandbox.Memory, ""},
		{"starts beyond it", module("", section(5, "\x01\x00\x80\x10")), 126, sandbox.Memory, "more memory"},
		{"no command", preamble, 126, "", "no WASI command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := do(t, create(t, inner(t), sandbox.Spec{Image: file(t, "m.wasm", c.module)}))
			if c.name == "recursion" && r.LimitHit == sandbox.Memory {
				return // a runner that is checked for races has less room for stacks
			}
			if r.ExitCode != c.code || r.LimitHit != c.hit || !strings.Contains(string(r.Stderr), c.says) {
				t.Errorf("code %d, limit %q, %s", r.ExitCode, r.LimitHit, r.Stderr)
			}
		})
	}
	for name, m := range map[string]string{
		"broken":             preamble + "\x01\xff\xff\xff\xff\x0f",
		"a wrong body":       module("\x6a"),
		"an unknown import":  preamble + section(1, "\x01\x60\x00\x00") + section(2, "\x01\x03env\x01f\x00\x00"),
		"tables without end": module("", section(4, "\x01\x70\x00\xff\xff\xff\xff\x0f")),
	} {
		sb := create(t, inner(t), sandbox.Spec{Image: file(t, "m.wasm", m)})
		r, err := sb.Exec(t.Context(), sandbox.Command{Argv: []string{"m"}})
		if err == nil && r.ExitCode == 0 || err != nil && !errors.Is(err, sandbox.ErrFailed) {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}

}

func TestSpecs(t *testing.T) {
	dir, text := t.TempDir(), file(t, "text", "x")
	for _, c := range []struct {
		name string
		spec sandbox.Spec
		is   error
	}{
		{"allow-list", sandbox.Spec{Network: sandbox.AllowList{Hosts: []string{"example.com"}}}, sandbox.ErrUnenforceable},
		{"inherit", sandbox.Spec{Network: sandbox.Inherit{}}, sandbox.ErrUnenforceable},
		{"a kernel of its own", sandbox.Spec{Require: sandbox.Enforcement{sandbox.Kernel: {Level: sandbox.Full}}}, sandbox.ErrUnenforceable},
		{"no limits", sandbox.Spec{Limits: sandbox.Limits{Timeout: 1}}, sandbox.ErrSpec},
		{"interpreter", sandbox.Spec{Warm: "python"}, sandbox.ErrSpec},
		{"a file as a mount", sandbox.Spec{Mounts: []sandbox.Mount{{Source: text, Target: "/x"}}}, sandbox.ErrSpec},
		{"a mount that is not there", sandbox.Spec{Mounts: []sandbox.Mount{{Source: dir + "/no", Target: "/x"}}}, sandbox.ErrSpec},
		{"fine", sandbox.Spec{Mounts: []sandbox.Mount{{Source: dir, Target: "/x"}}}, nil},
	} {
		if c.spec.Limits == (sandbox.Limits{}) {
			c.spec.Limits = limits()
		}
		c.spec.Image = file(t, "m.wasm", module(""))
		sb, err := factory(&host{t: t}).Create(t.Context(), c.spec)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
		if sb != nil {
			sb.Close()
		}
	}
	if _, err := factory(&host{t: t, fail: sandbox.ErrUnavailable}).Create(t.Context(), sandbox.Spec{Image: file(t, "m.wasm", module("")), Limits: limits()}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("no process back end: %v", err)
	}
}

// TestProbe runs a module; without a process back end it says why not.
func TestProbe(t *testing.T) {
	f := factory(inner(t))
	if a := f.Probe(t.Context()); !a.OK || a.Took <= 0 || len(a.Enforcement) == 0 {
		t.Errorf("%+v", a)
	}
	if !f.TakesImage("wasm:/x") || f.TakesImage("host") || f.ID() != wasm.ID {
		t.Error("what it takes")
	}
	if a := factory(&host{t: t, fail: sandbox.Errorf(sandbox.ErrUnavailable, "nothing here")}).Probe(t.Context()); a.OK || !strings.Contains(a.Reason, "nothing here") {
		t.Errorf("%+v", a)
	}
}

// TestEnforcement: every dimension is reported, and the weaker process
// sandbox shows where the module depends on it.
func TestEnforcement(t *testing.T) {
	sb := create(t, &host{t: t}, sandbox.Spec{})
	have := sb.Enforcement()
	for _, d := range sandbox.Dimensions() {
		want := sandbox.Full
		switch d {
		case sandbox.NetAllowList:
			want = sandbox.None
		case sandbox.Kernel:
			want = sandbox.Partial
		}
		if have[d].Level != want {
			t.Errorf("%s is %v", d, have[d])
		}
	}
}
