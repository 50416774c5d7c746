package service

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/command"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestOwnCommandDocument: what is asked for is what the document that stands for
// the command asks for.
func TestOwnCommandDocument(t *testing.T) {
	plain, err := ownCommandDocument(OwnCommand{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := plain.CheckCode(); len(wrong) > 0 {
		t.Fatal(wrong[0])
	}
	if o := plain.Overrides; o.NetworkMode != nil || o.FileRead != nil || o.FileWrite != nil || len(o.RemoveDenyClasses) != 1 {
		t.Errorf("a plain command asks for %+v", o)
	}
	full, err := ownCommandDocument(OwnCommand{Hosts: []string{"a.example"}, Own: command.Own{
		Backend: "process", Limits: decision.SandboxLimits{MemoryMB: 64}, Mounts: []sandbox.Mount{{Source: "/x", Target: "/y", Writable: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if o := full.Overrides; *o.NetworkMode != "allowlist" || o.HostsAllow[0] != "a.example" || !*o.FileRead || !*o.FileWrite {
		t.Errorf("a full command asks for %+v", o)
	}
	if text := string(full.Canonical()); !strings.Contains(text, `"x-toolwarrant-sandbox":{"backends":["process"],"limits":{"memoryMB":64}}`) {
		t.Error(text)
	}
}

// TestRunCommand: a command of the terminal is decided about, runs where a
// sandbox works, and is on record whatever becomes of it.
func TestRunCommand(t *testing.T) {
	s := opened(t, t.TempDir(), settings(t, nil))
	ctx := context.Background()
	who := decision.Principal{Subject: "uid:0", Method: "os-user", Groups: []string{}, Scopes: []string{}}
	if r := s.RunCommand(ctx, who, OwnCommand{}); r.Err == nil || r.Err.Reason != "command-empty" {
		t.Errorf("nothing to run: %v", r.Err)
	}
	r := s.RunCommand(ctx, who, OwnCommand{Argv: []string{"/bin/sh", "-c", "true"}, Own: command.Own{Backend: "no-such"}})
	if r.Err == nil || r.Err.Reason != "sandbox-none-left" {
		t.Errorf("a sandbox that the policy does not allow: %v", r.Err)
	}
	if f, err := s.sandboxes.Preferred(ctx, sandbox.Spec{Limits: sandbox.Minimal()}); err != nil {
		t.Skipf("no sandbox works here: %v", err)
	} else {
		t.Logf("in %s", f.ID())
	}
	dir, out := t.TempDir(), new(bytes.Buffer)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("from the mount"), 0o644); err != nil {
		t.Fatal(err)
	}
	r = s.RunCommand(ctx, who, OwnCommand{
		Argv: []string{"/bin/sh", "-c", `cat /in/f; echo "$A"; cat; exit 3`}, Env: [][2]string{{"A", "b"}}, Input: "end",
		Own: command.Own{Mounts: []sandbox.Mount{{Source: dir, Target: "/in"}}, Stdout: out, Timeout: 10 * time.Second},
	})
	if r.Err != nil || r.Command == nil || r.Command.ExitCode != 3 || r.Command.Stdout != "from the mountb\nend" {
		t.Fatalf("%+v %v", r.Command, r.Err)
	}
	if out.String() != r.Command.Stdout {
		t.Errorf("as it came: %q", out)
	}
	if r.Decision == nil || r.Decision.RiskLevel != "L5" || r.CallID == "" {
		t.Errorf("decision: %+v", r.Decision)
	}
	r = s.RunCommand(ctx, who, OwnCommand{Argv: []string{"true"}, Own: command.Own{Limits: decision.SandboxLimits{MemoryMB: 1 << 20}}})
	if r.Err == nil || r.Err.Reason != "sandbox-limits" {
		t.Errorf("more than the policy gives: %v", r.Err)
	}
	log, err := os.ReadFile(s.Audit.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"sandboxRun"`, `"argv":["/bin/sh","-c","cat /in/f;`, `"exitCode":3`, `"error":"sandbox-limits"`} {
		if !bytes.Contains(log, []byte(want)) {
			t.Errorf("the record lacks %s", want)
		}
	}
}
