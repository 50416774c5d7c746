package js

import (
	"encoding/json"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// TestFileHelpers: which helpers are there, which refuse, and that bytes stay
// bytes both ways.
func TestFileHelpers(t *testing.T) {
	const ask = `return Object.keys(safety.fs).sort().filter(n => { try { safety.fs[n]("a", "b", "c"); return true } catch (e) { if (e.reason === "not-granted" && e.message.includes("is not granted")) return false; return true } }).join(" ")`
	const reads = "cut exists find grep lineCount list readBytes readRoots readText search searchInFiles slice sort stat workspace"
	const writes = "appendText delete deleteDir move writeBytes writeText"
	for _, tc := range []struct {
		read, write bool
		want        string
	}{
		{true, false, `"` + reads + `"`},
		{false, true, `"` + writes + `"`},
		{true, true, `"appendText copy cut delete deleteDir editText exists find grep lineCount list move readBytes readRoots readText search searchInFiles slice sort stat workspace writeBytes writeText"`},
		{false, false, `JS_ERROR/TypeError: Cannot convert undefined or null to object`},
	} {
		got := outcome(runWith(t, &fakeBroker{}, ask, `{}`, func(c *worker.Call) { c.Globals.FSRead, c.Globals.FSWrite = tc.read, tc.write }))
		if got != tc.want {
			t.Errorf("read %v, write %v\ngot  %s\nwant %s", tc.read, tc.write, got, tc.want)
		}
	}
	b := &fakeBroker{serve: map[worker.Op]func([]json.RawMessage) worker.BrokerReply{
		worker.OpFSReadBytes: answer(`{"$bytes":"AP8="}`), worker.OpFSWriteBytes: answer(`"a"`),
		worker.OpFSSearchInFiles: answer(`[{"file":"f","line":1,"text":"t"}]`),
	}}
	got := outcome(runWith(t, b, `const x = safety.fs.readBytes("a"); return [x instanceof Uint8Array, Array.from(x), safety.fs.writeBytes("a", x), safety.fs.search(".", "*", "t")[0].line]`, `{}`,
		func(c *worker.Call) { c.Globals.FSRead, c.Globals.FSWrite = true, true }))
	if got != `[true,[0,255],"a",1]` || string(b.seen[1].Args) != `["a",{"$bytes":"AP8="}]` {
		t.Error(got, string(b.seen[1].Args))
	}
	b.serve[worker.OpFSReadBytes] = answer(`{"$bytes":5}`)
	if got := outcome(runWith(t, b, `safety.fs.readBytes("a")`, `{}`, func(c *worker.Call) { c.Globals.FSRead = true })); got != "HELPER_RUNTIME/bad-answer: [safety.fs] the helper gave an answer that cannot be read" {
		t.Error(got)
	}
}
