package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/audit"
)

// TestFrom: pages of a search, each begun where the one before ended, give
// what the whole search gives.
func TestFrom(t *testing.T) {
	t.Run("indexed", func(t *testing.T) { _, file := indexed(t); pages(t, file) })
	t.Run("not indexed", func(t *testing.T) {
		w, file := log(t)
		write(t, w, 0, 5)
		pages(t, file)
	})
}

func pages(t *testing.T, file string) {
	t.Helper()
	var whole []string
	if err := Search(t.Context(), []string{file}, Filter{}, Options{}, func(r audit.Record, _ audit.Line) error {
		whole = append(whole, r.CallID)
		return nil
	}); err != nil || len(whole) < 3 {
		t.Fatal(whole, err)
	}
	var paged []string
	for from := int64(0); ; {
		n, next := 0, int64(0)
		if err := Search(t.Context(), []string{file}, Filter{}, Options{Places: true, From: from}, func(r audit.Record, l audit.Line) error {
			if n++; n == 1 {
				paged, next = append(paged, r.CallID), l.Offset+int64(len(l.Raw))+1
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		from = next
	}
	if d := cmp.Diff(whole, paged); d != "" {
		t.Errorf("pages (-whole +paged):\n%s", d)
	}
}
