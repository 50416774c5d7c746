package main

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// pick is a command of the scripts: "pick NAME PATTERN" gives a variable the
// first group of a pattern in what the last command printed.
func pick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pick NAME PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("the output has no %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}
