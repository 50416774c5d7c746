package main

import (
	"os"
	"strings"
	"testing"
)

// TestAuthoringPage holds the page for authors against the script that runs
// its commands: each one is there, in the same order.
func TestAuthoringPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/authoring.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rest, commands := string(script), 0
	for line := range strings.Lines(string(page)) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "$ toolwarrant ")
		if !is {
			continue
		}
		commands++
		_, after, found := strings.Cut(rest, "\nexec toolwarrant "+command)
		if !found {
			t.Errorf("the script does not run, in its turn: %s", command)
			continue
		}
		rest = after
	}
	if commands < 6 {
		t.Errorf("the page has %d commands", commands)
	}
}
