package backends_test

import (
	"slices"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/backends"
)

func TestAll(t *testing.T) {
	all := backends.All(backends.Options{})
	defer all.Close()
	for _, id := range all.IDs() {
		one := backends.All(backends.Options{Only: []string{id, "no-such"}})
		if got := one.IDs(); !slices.Equal(got, []string{id}) {
			t.Errorf("only %s gives %v", id, got)
		}
		one.Close()
	}
	none := backends.All(backends.Options{Only: []string{}})
	defer none.Close()
	if got := none.IDs(); len(got) != 0 {
		t.Errorf("none gives %v", got)
	}
}
