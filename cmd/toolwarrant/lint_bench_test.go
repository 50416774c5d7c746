package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// BenchmarkLint lints folders of different sizes with every rule. The time per
// document should not depend on their number.
func BenchmarkLint(b *testing.B) {
	policy, err := resolver.New(context.Background(), resolver.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 1000, 5000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				text := fmt.Sprintf(`{"name": "tool-%d", "codeType": "Javascript", "description": "Looks up entry %d by its name. Returns an object.",
 "params": [{"name": "key", "type": "STRING", "required": true, "testValue": "a%d"}],
 "code": "const r = await fetch('https://api%d.example.com/v1/' + encodeURIComponent(key) + '/%d');\nreturn await r.json();",
 "sandboxOverrides": {"networkMode": "allowlist", "hostsAllow": ["api%d.example.com"]}}`, i, i, i, i, i, i)
				if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".json"), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				r, err := lint.Run(context.Background(), []string{dir}, service.LintOptions(policy, principal(), ""))
				if err != nil || r.Summary.Files != n || len(r.Findings) != 0 {
					b.Fatal(r.Findings, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/document")
		})
	}
}
