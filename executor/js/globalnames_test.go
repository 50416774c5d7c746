package js

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// TestGlobalNames holds the list of globals that a reader of code goes by
// against the runtime: each of them is there, and there is no other.
func TestGlobalNames(t *testing.T) {
	granted := func(c *worker.Call) { c.Globals = worker.Globals{Fetch: true, FSRead: true, FSWrite: true} }
	known := script.Globals()
	if !slices.IsSorted(known) {
		t.Error("the list is not sorted")
	}
	var there []string
	if err := json.Unmarshal([]byte(outcome(run(t, `return Object.getOwnPropertyNames(globalThis)`, `{}`, granted))), &there); err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if !slices.Contains(known, name) {
			t.Errorf("the runtime has %s, which the list lacks", name)
		}
	}
	for _, name := range known {
		// eval and Function are refused where they are named for a call alone.
		got := outcome(run(t, `const value = `+name+`; return "there"`, `{}`, granted))
		if got != `"there"` {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"require", "process", "Buffer", "setInterval", "Headers", "Request", "AbortController", "window"} {
		if slices.Contains(known, name) {
			t.Errorf("%s is in the list", name)
		}
		if got, want := outcome(run(t, `return `+name, `{}`, granted)), "JS_ERROR/ReferenceError: "+name+" is not defined"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
