package js

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const toolBody = `
const words = String(text || "").toLowerCase().split(/[^a-z0-9]+/g).filter(w => w.length > 0);
const counts = new Map();
for (const w of words) {
  counts.set(w, (counts.get(w) || 0) + 1);
}
function score(w, n) {
  let s = 0;
  for (let i = 0; i < w.length; i++) {
    const c = w.charCodeAt(i);
    if (c >= 97 && c <= 122) {
      s += c - 96;
    } else {
      s += 1;
    }
  }
  return s * n;
}
const rows = [];
for (const [w, n] of counts) {
  if (n < (min || 1)) continue;
  rows.push({ word: w, count: n, score: score(w, n) });
}
rows.sort((a, b) => b.score - a.score || a.word.localeCompare(b.word));
const top = rows.slice(0, 20);
const total = rows.reduce((a, r) => a + r.count, 0);
const out = { total, unique: rows.length, top: [] };
for (const r of top) {
  out.top.push({ ...r, share: Math.round(r.count / total * 1e4) / 1e4 });
}
try {
  if (!out.top.length) throw new Error("text required");
} catch (e) {
  return { error: e.message };
}
const emails = [...String(text).matchAll(/[\w.]+@[\w.]+/g)].map(m => m[0]);
out.emails = emails.length;
out.digits = (String(text).match(/\d+/g) || []).length;
return out;
`

func benchmark(b *testing.B, body, args string) {
	r := New(Options{})
	call := worker.Call{Program: worker.Program{ID: "p", Name: "b.js", Source: body, Params: []string{"text", "min"}}, Args: json.RawMessage(args),
		Limits: worker.Limits{MaxStatements: 500000, TimeoutMillis: 30000, MaxOutputBytes: 1 << 20}}
	b.ReportAllocs()
	for b.Loop() {
		rep, err := r.Run(context.Background(), call, nil)
		if err != nil || rep.Failure != nil {
			b.Fatal(err, rep.Failure)
		}
	}
}

func BenchmarkTiny(b *testing.B) { benchmark(b, `return 1`, `{}`) }

// BenchmarkWorld uses the global object as a value, so that all of it is built.
func BenchmarkWorld(b *testing.B) { benchmark(b, `return this ? 1 : 0`, `{"text":"a"}`) }

func BenchmarkTool(b *testing.B) {
	benchmark(b, toolBody, `{"text":`+mustJSON(strings.Repeat("the quick brown fox a.b@c.de jumps 42 over lazy dogs ", 20))+`}`)
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, f := compileBody("b.js", toolBody, []string{"text", "min"}, false); f != nil {
			b.Fatal(f)
		}
	}
}
