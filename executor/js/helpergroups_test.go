package js

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

// TestHelperGroups: the list has every group, and exactly the functions that
// the runtime gives to code which is granted everything.
func TestHelperGroups(t *testing.T) {
	body := `const names = (prefix, o) => Object.getOwnPropertyNames(o).filter(n => typeof o[n] === "function").map(n => prefix + n);
return [...names("safety.fs.", safety.fs), ...names("safety.parser.", safety.parser), ...names("safety.time.", safety.time), ...names("safety.", safety), ...names("crypto.", crypto), ...names("crypto.subtle.", crypto.subtle),
	...["fetch", "atob", "btoa", "TextEncoder", "TextDecoder"].filter(n => typeof globalThis[n] === "function")];`
	reply := run(t, body, `{}`, func(c *worker.Call) { c.Globals.Fetch, c.Globals.FSRead, c.Globals.FSWrite = true, true, true })
	var have []string
	if err := json.Unmarshal(reply.Result, &have); err != nil {
		t.Fatal(outcome(reply), err)
	}
	var want, ids []string
	for _, g := range HelperGroups() {
		want, ids = append(want, g.Names...), append(ids, g.ID)
	}
	slices.Sort(have)
	slices.Sort(want)
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("helpers (-listed +in the runtime):\n%s", d)
	}
	if d := cmp.Diff(script.Groups(), ids); d != "" {
		t.Errorf("groups (-specified +listed):\n%s", d)
	}
}
