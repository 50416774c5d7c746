package escape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// TestAsNobody runs what is looked at from the host once more, as a user
// without any right. TestMatrix does it for itself.
func TestAsNobody(t *testing.T) {
	if *matrixDir == "" {
		t.Skip("runs everything once more; -matrix asks for it")
	}
	r := &rig{}
	r.build(t)
	must(t, os.Chmod(filepath.Dir(r.probe), 0o755))
	agentProgram(t)
	out, err := nobody.Rerun(t, []string{"ESCAPE_PROBE=" + r.probe}, "-test.run=^Test(Nothing|Neighbours|Time|Kill|Output|Mount|Writable|Parent)", "-test.v", "-backends="+*only)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "_test.go") || strings.Contains(line, "--- ") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
	if err != nil {
		t.Errorf("as nobody: %v", err)
	}
	if !strings.Contains(out, "--- PASS: TestParentIsKilled") {
		t.Error("as nobody the tests did not run to their end")
	}
}
