package attack

import (
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// TestAsNobody runs the table again as a user without any right.
func TestAsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the table once more")
	}
	out, err := nobody.Rerun(t, nil, "-test.run=^(TestAttacks|TestRecords)$", "-test.v")
	failed := ""
	for line := range strings.Lines(out) {
		if strings.Contains(line, "--- FAIL") || strings.Contains(line, "attack_test.go") || strings.Contains(line, "engine_test.go") {
			failed += line
		}
	}
	if err != nil {
		t.Fatalf("as nobody: %v\n%s", err, failed)
	}
	t.Log(failed)
}
