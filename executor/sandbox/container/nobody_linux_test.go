package container

import (
	"os"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// TestAsNobody runs the tests of real containers once more as an ordinary
// user: rootless, without control groups.
func TestAsNobody(t *testing.T) {
	if os.Getenv(agentVariable) != "" {
		t.Skip("this is the second run")
	}
	out, err := nobody.Rerun(t, []string{agentVariable + "=" + agentProgram}, "-test.v", "-test.timeout=2m",
		"-test.run=^(TestInside|TestLimits|TestReset|TestMounts|TestAttach|TestNothingIsLeft|TestParentKilled|TestErrors|TestNetworks)$/^(container)?$")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "--- PASS: TestReset") {
		t.Skip("no containers for an ordinary user here:\n" + out)
	}
}
