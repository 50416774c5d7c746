package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/index"
)

// TestWhoChanged asks who changed a file: readers did not, folders above count,
// a file that was changed stands before those that were read, and a call that
// changed or reached more than its record holds is found for every file and
// every host, with the index and without.
func TestWhoChanged(t *testing.T) {
	w, file := log(t)
	var many, writes []audit.FSUse
	var hosts []audit.Egress
	for i := range 1200 {
		many = append(many, audit.FSUse{Op: "exists", Path: fmt.Sprint("f", i)})
		writes = append(writes, audit.FSUse{Op: "writeText", Path: fmt.Sprint("w", i)})
		hosts = append(hosts, audit.Egress{Host: fmt.Sprint("h", i, ".example"), IP: "203.0.113.1"})
	}
	for i, u := range []audit.Usage{
		{FS: []audit.FSUse{{Op: "readText", Path: "a/b/c.txt"}}},
		{FS: []audit.FSUse{{Op: "writeText", Path: "a/b/c.txt"}}},
		{FS: []audit.FSUse{{Op: "deleteDir", Path: "a"}}},
		{FS: []audit.FSUse{{Op: "move", Path: "a/b"}, {Op: "move", Path: "z"}}},
		{FS: []audit.FSUse{{Op: "deleteDir", Path: "a/x"}}},
		{FS: []audit.FSUse{{Op: "of a later version", Path: "a/b/c.txt"}, {Op: "find", Path: "a"}}},
		{FS: append(slices.Clone(many), audit.FSUse{Op: "writeText", Path: "a/b/c.txt"})},
		{Egress: append(hosts, audit.Egress{Host: "evil.example"}), FS: []audit.FSUse{{Op: "list", Path: "."}}},
		{FS: []audit.FSUse{{Op: "writeText", Path: "ab/c.txt"}}},
		{FS: append(slices.Clone(writes), audit.FSUse{Op: "readText", Path: "r"})},
		{FS: append(slices.Clone(many), audit.FSUse{Op: "readText", Path: "r"})},
	} {
		c := call(0)
		c.CallID, c.Usage = fmt.Sprint(i), &u
		if err := w.Close(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := index.NewUpdater(file).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]Filter{
		"1 2 3 5 6 9":    {Changed: []string{"a/b/c.txt"}},
		"1 2 3 5 6 9 ":   {Changed: []string{"*/b/*.txt"}},
		"1 2 3 4 5 6 9":  {Changed: []string{"a/"}},
		"1 2 3 5 6 9  ":  {Changed: []string{"a/b/"}},
		"2 9":            {Changed: []string{"a/none"}},
		"8 9":            {Changed: []string{"ab/c.txt"}},
		"0 1 5 6 9 10":   {Paths: []string{"a/b/c.txt"}},
		"7":              {Hosts: []string{"evil.example"}},
		"1 2 3 5 6 9   ": {Changed: []string{"a/b/c.txt"}, Outcomes: []string{"OK"}},
		"1 2 3 5 6 8 9":  {Changed: []string{"a/b/c.txt", "ab/"}},
	} {
		for _, o := range []Options{{Note: func(s string) { t.Error(s) }}, {NoIndex: true}} {
			var got []string
			err := Search(t.Context(), []string{file}, f, o, func(r audit.Record, _ audit.Line) error {
				got = append(got, r.CallID)
				return nil
			})
			if err != nil || strings.Join(got, " ") != strings.TrimSpace(want) {
				t.Errorf("%+v without the index %v: %v %v, want %s", f, o.NoIndex, got, err, want)
			}
		}
	}
	if err := (Filter{Changed: []string{"a["}}).Check(); err == nil {
		t.Error("a pattern that is none was taken")
	}
}

// TestTellsCommands: the story of a call has the commands that its code ran.
func TestTellsCommands(t *testing.T) {
	w, file := log(t)
	c := call(0)
	c.Sandbox = []audit.Sandbox{
		{SandboxID: "s", Backend: "process", Argv: []string{"wc", "-l", "\x1b[2J"}, ExitCode: ptr(int64(3)), LimitHit: ptr("memory"),
			Mounts:      []audit.SandboxMount{{Source: "/home/ws", Target: "/work", Writable: true}, {Source: "/data", Target: "/d"}},
			Connections: []audit.SandboxConnection{{Host: "a.example", Port: 443, Reason: ptr("not-listed")}}, Partial: map[string]string{"memory": "partial"}},
		{Argv: []string{"x"}, Error: ptr("sandbox-unenforceable"), Mounts: []audit.SandboxMount{}, Connections: []audit.SandboxConnection{}, Partial: map[string]string{}},
	}
	if err := w.Close(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	s, err := Find(t.Context(), []string{file}, "call-0")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Tell(&out, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"(process, exit 3, met the limit memory)", "saw /home/ws at /work, writable", "saw /data at /d, read-only", "network a.example:443",
		"refused not-listed", "less than asked: memory partial", "x (no sandbox, did not run to its end: sandbox-unenforceable)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the story has a control character")
	}
}
