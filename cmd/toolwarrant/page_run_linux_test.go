package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pages are the places whose commands TestPages runs.
var pages = []string{"../../README.md", "../../docs/*.md"}

// TestPages runs every command that README.md and docs/*.md show, each page in
// its order, in a home of its own, as somebody who reads it; and holds what
// comes against what the page shows. See readPage for what a page can say to
// this test, and shapes for what may differ.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred commands")
	}
	var files []string
	for _, pattern := range pages {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages: %s %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := readPage(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		run := 0
		for _, s := range steps {
			switch s.what {
			case "command":
				run++
			case "not run":
				t.Logf("not run: %s:%d: %q: %s", filepath.Base(file), s.line, s.output, s.text)
			}
		}
		if run == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			for _, s := range steps {
				for _, program := range []string{"curl", "openssl", "jq", "python3"} {
					if _, err := exec.LookPath(program); err != nil && strings.Contains(s.text, program+" ") {
						t.Skipf("%s is not here: %v", program, err)
					}
				}
			}
			r := newReader(t, filepath.Base(file))
			for _, s := range steps {
				r.do(s)
			}
			r.stopServer()
			t.Logf("%d commands", run)
		})
	}
}

// reader is somebody who does what a page says.
type reader struct {
	t       *testing.T
	page    string
	dir     string            // the folder and the home of this somebody
	env     []string          // of every command
	prelude string            // what "export" and "cd" did
	names   map[string]string // ids of the page, and what they are in this run
	issuer  string            // the port that is 8284 on the pages
	places  [][2]string       // addresses and folders of the page, and where they are
	server  *exec.Cmd         // what the page left running
	log     *lockedOutput     // of the server
}

// newReader makes the home and the folders of the system that pages name.
func newReader(t *testing.T, page string) *reader {
	dir := t.TempDir()
	_, issuer, err := net.SplitHostPort(freeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, page: page, dir: dir, issuer: issuer, names: map[string]string{}, places: [][2]string{
		{"127.0.0.1:8282", freeAddr(t)}, {"127.0.0.1:8283", freeAddr(t)},
		{"/etc/toolwarrant", filepath.Join(dir, "etc-toolwarrant")}, {"/var/lib/toolwarrant", filepath.Join(dir, "var-lib-toolwarrant")},
		{"/home/me", dir},
	}}
	for _, place := range r.places[2:4] {
		if err := os.Mkdir(place[1], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("toolwarrant")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "toolwarrant")); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "TOOLWARRANT_") && !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			r.env = append(r.env, v)
		}
	}
	// Empty is as good as absent, and keeps TestMain from saying something.
	r.env = append(r.env, "HOME="+dir, "LC_ALL=C", "TZ=UTC",
		"TOOLWARRANT_CATALOG_PRESET=", "TOOLWARRANT_CATALOG_TRUST_FOLDERS=")
	t.Cleanup(r.stopServer)
	return r
}

// live is a text of the page as it has to be in this run, shown the reverse.
func (r *reader) live(text string) string {
	text = strings.ReplaceAll(text, "8284", r.issuer)
	for _, place := range r.places {
		text = strings.ReplaceAll(text, place[0], place[1])
	}
	for name, is := range r.names {
		text = strings.ReplaceAll(text, name, is)
	}
	if r.server != nil { // the pages' process id of a server
		text = regexp.MustCompile(`\b4711\b`).ReplaceAllString(text, strconv.Itoa(r.server.Process.Pid))
	}
	return text
}

func (r *reader) shown(text string) string {
	for _, place := range r.places {
		text = strings.ReplaceAll(text, place[1], place[0])
	}
	return text
}

func (r *reader) do(s step) {
	r.t.Helper()
	switch s.what {
	case "file":
		name := filepath.Join(r.dir, filepath.FromSlash(s.text))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(r.live(s.output)), 0o600)); err != nil {
			r.t.Fatal(err)
		}
	case "setup":
		run := r.run
		if stays(s.text) {
			run = r.start
		}
		if out, err := run(s.text); err != nil {
			r.t.Fatalf("%s:%d: the set-up fails: %v\n%s", r.page, s.line, err, out)
		}
	case "command":
		came, err := "", error(nil)
		if stays(s.text) {
			came, err = r.start(s.text)
		} else {
			came, err = r.run(s.text)
		}
		came = r.shown(came)
		switch {
		case s.output == "" && err != nil:
			r.t.Errorf("%s:%d: $ %s\nfails, and the page does not say so: %v\n%s", r.page, s.line, s.text, err, came)
		case s.output != "" && !outputMatches(s.output, came, r.names):
			r.t.Errorf("%s:%d: $ %s\nthe page shows:\n%s\nthis came (%v):\n%s", r.page, s.line, s.text, s.output, err, came[:min(len(came), 8000)])
		}
	}
}

// run runs one command to its end, at no terminal.
func (r *reader) run(command string) (string, error) {
	defer func() { // for the commands that follow
		for line := range strings.Lines(command) {
			if strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "cd ") {
				r.prelude += strings.TrimSpace(line) + "\n"
			}
		}
	}()
	before := 0
	signal := strings.HasPrefix(command, "kill ")
	if signal && r.log != nil {
		before = len(r.log.String())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := r.command(ctx, command)
	out, err := cmd.CombinedOutput()
	if signal && err == nil && r.log != nil { // what it tells stands in the log of the server
		return r.log.waitFor(before, regexp.MustCompile(`reloaded|refused`)), nil
	}
	if ending.MatchString(command) && err == nil && r.log != nil { // what follows is about what it leaves
		select {
		case <-r.log.ended:
		case <-ctx.Done():
			return string(out), errors.New("the server does not end")
		}
	}
	return string(out), err
}

func (r *reader) command(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", r.live(r.prelude+command))
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask on, and a group to end
	cmd.WaitDelay = time.Second
	return cmd
}

var (
	staying = regexp.MustCompile(`toolwarrant serve\b|--watch\b|tail -f\b`)
	ready   = regexp.MustCompile(`serving MCP at .*\n|-- waiting for a change.*\n|\n`)
	ending  = regexp.MustCompile(`(?m)^kill \d+`)
	begun   = regexp.MustCompile(`serving MCP at .*\n|-- waiting for a change.*\n`)
)

// stays tells whether a command goes on until somebody ends it.
func stays(command string) bool {
	return staying.MatchString(command) && !strings.Contains(command, "--check-config") && !strings.Contains(command, "--stdio")
}

// start starts a command that stays, in the place of the one before, and gives
// what it said until it was ready or ended.
func (r *reader) start(command string) (string, error) {
	r.stopServer()
	r.log = newLockedOutput()
	r.server = r.command(context.Background(), "exec "+command)
	r.server.Stdout, r.server.Stderr = r.log, r.log
	r.server.Env = append(r.server.Env, "TOOLWARRANT_ADDR="+r.places[0][1])
	if err := r.server.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func(cmd *exec.Cmd) { ended <- cmd.Wait(); close(ended) }(r.server)
	r.log.ended = ended
	enough := begun
	if strings.Contains(command, "tail -f") {
		enough = ready
	}
	out := r.log.waitFor(0, enough)
	if !enough.MatchString(out) {
		return out, errors.New("it did not begin to serve")
	}
	return out, nil
}

// stopServer ends what stays, and all that it started.
func (r *reader) stopServer() {
	if r.server == nil || r.server.Process == nil {
		return
	}
	group := -r.server.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-r.log.ended:
	case <-time.After(20 * time.Second):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-r.log.ended
	r.server = nil
}

// lockedOutput is what a process says, to be read meanwhile.
type lockedOutput struct {
	lockedBuffer
	ended <-chan error
}

func newLockedOutput() *lockedOutput { return &lockedOutput{} }

func (o *lockedOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(bytes.ReplaceAll(p, []byte("\x1b"), nil))
}

// waitFor waits until what was said from a place on matches, or the process
// has ended, or two minutes are over, and gives what was said from there.
func (o *lockedOutput) waitFor(from int, what *regexp.Regexp) string {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text := o.String()[from:]; what.MatchString(text) {
			return text
		}
		select {
		case <-o.ended:
			time.Sleep(20 * time.Millisecond)
			return o.String()[from:]
		default:
		}
	}
	return o.String()[from:]
}
