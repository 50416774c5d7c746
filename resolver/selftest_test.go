package resolver

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// TestSlowTests: the tests of a policy are bounded together, at an activation
// as in "policy test", and the error names those to blame.
func TestSlowTests(t *testing.T) {
	defer func(d time.Duration) { testsTimeout = d }(testsTimeout)
	testsTimeout = time.Second
	endless := "if {\n\tsome i in numbers.range(1, 1000000000)\n\ti == -1\n}\n"
	policy := policyFolder(t, map[string]string{
		"policy_test/slow_test.rego": "package slow_test\n\nimport rego.v2\n\ntest_slow " + endless + "\ntest_slow_too " + endless,
	})
	_, err := TestPolicy(context.Background(), Options{Policy: policy})
	f := wantFault(t, err, fault.PolicyUnavailable, "policy-too-slow")
	for _, want := range []string{policy, "within 1s", "slow_test.test_slow", "policy_test/slow_test.rego:"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("%q lacks %q", f.Message, want)
		}
	}
	_, err = New(context.Background(), Options{Policy: policy})
	wantFault(t, err, fault.PolicyUnavailable, "policy-too-slow")

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = TestPolicy(gone, Options{Policy: policy})
	wantFault(t, err, fault.PolicyUnavailable, "canceled")
}
