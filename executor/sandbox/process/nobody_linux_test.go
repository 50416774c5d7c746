package process

import (
	"os"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// TestAsNobody runs the tests of this package once more as an ordinary user:
// without control groups, and with commands as the user itself.
func TestAsNobody(t *testing.T) {
	if os.Getenv("PROCESS_TEST_NOBODY") != "" {
		t.Skip("this is the second run")
	}
	args := []string{"-test.v", "-test.timeout=3m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	out, err := nobody.Rerun(t, []string{"PROCESS_TEST_NOBODY=1"}, args...)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "--- PASS: TestCommands") {
		t.Skip("no sandbox for an ordinary user here:\n" + out)
	}
}
