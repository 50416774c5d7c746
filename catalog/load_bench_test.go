package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkOpen10000 opens a home with 10,000 tools, each a file of its own.
func BenchmarkOpen10000(b *testing.B) {
	home := b.TempDir()
	for i := range 10000 {
		name := fmt.Sprintf("tool%d", i)
		writeFile(b, filepath.Join(home, "catalog", name+".json"), docJSON("id-"+name, name, "return 1;", true))
	}
	for b.Loop() {
		c, err := Open(context.Background(), Options{Home: home})
		if err != nil {
			b.Fatal(err)
		}
		if got := len(list(b, c)); got < 10000 {
			b.Fatalf("%d tools", got)
		}
	}
}
