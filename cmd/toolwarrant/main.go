// Command toolwarrant serves, runs, tests and explains agent tools under
// policy. Each verb is one file of this package: flags in, one call of
// package service (or of the package that owns the matter), output.
//
// Exit status: 0 fine; 1 the answer is no (findings of severity error, a
// document that breaks the specification, a failed test, a call that was
// DENIED or ended in ERROR, a log that does not verify); 2 wrong usage or a
// path that cannot be read; 3 the system itself failed.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

func main() {
	// What a tool computes must not depend on where it runs, and what a log
	// says must be comparable: this process knows one time zone.
	time.Local = time.UTC
	collectLessAtFirst()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}, os.Environ())
	stop()
	os.Exit(code)
}

// collectLessAtFirst lets the start of a command, which reads and compiles a
// policy and is all that most commands last, leave more garbage before the
// collector comes: a quarter of its processor time went there, for 15 MiB. What
// runs on collects as Go does by itself, and GOGC is obeyed.
func collectLessAtFirst() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(400)
	time.AfterFunc(time.Second, func() { debug.SetGCPercent(usual) })
}

// stdio are the three streams of a command; tests give their own.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and gives its exit status.
func run(ctx context.Context, args []string, std stdio, env []string) int {
	return (&app{std: std, env: env}).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	a.wantsJSON = wantsJSON(args)
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.std.in)
	root.SetOut(a.std.out)
	root.SetErr(a.std.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return fault.ExitOK
	}
	return a.fail(err)
}

// wantsJSON reports whether the command line asks for JSON, for failures that
// come before it is understood.
func wantsJSON(args []string) bool {
	for i, arg := range args {
		if arg == "--format=json" || arg == "--format" && i+1 < len(args) && args[i+1] == "json" {
			return true
		}
	}
	return false
}
