package js

import (
	"fmt"
	"sync"
	"testing"
)

// TestConcurrent shares compiled programs, time zones and library scripts
// between calls; the race detector watches.
func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := fmt.Sprintf(`const r = new RegExp("a+", "g"); return [x, %d, "aab".match(r), structuredClone({ a: 1 }), Array.from([1]), new Date(0).toLocaleString("en-GB", { timeZone: "Asia/Seoul" })]`, i%2)
			want := fmt.Sprintf(`[%d,%d,["aa"],{"a":1},[1],"01/01/1970, 09:00:00"]`, i, i%2)
			for range 5 {
				if got := outcome(run(t, body, fmt.Sprintf(`{"x":%d}`, i))); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
}
