package broker

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

type commands struct{ asked []worker.Command }

func (c *commands) Run(_ context.Context, asked worker.Command) (worker.CommandResult, *worker.Failure) {
	c.asked = append(c.asked, asked)
	return worker.CommandResult{ExitCode: 1, Stdout: "out"}, nil
}

func TestProcessRun(t *testing.T) {
	may := decision.EffectivePolicy{AllowClasses: []string{"java.lang.*"}}
	denied := may
	denied.DenyClasses = []string{ProcessClass}
	big, _ := json.Marshal([]any{map[string]any{"argv": make([]string, maxWords+1)}})
	words := func(s string) string { return strings.ReplaceAll(s, `""`, `"x"`) }
	for name, tc := range map[string]struct {
		policy decision.EffectivePolicy
		none   bool
		args   string
		want   string // the result, or the reason after "!"
	}{
		"runs":               {may, false, `[{"argv":["a","b"],"env":[["K","v"]],"input":"i","more":1}]`, `{"exitCode":1,"stdout":"out","stderr":"","timedOut":false,"truncated":false,"limitHit":""}`},
		"the class denied":   {denied, false, `[{"argv":["a"]}]`, "!class-denied"},
		"no class at all":    {decision.EffectivePolicy{}, false, `[{"argv":["a"]}]`, "!class-not-allowed"},
		"nothing to run":     {may, false, `[]`, "!command-empty"},
		"no words":           {may, false, `[{"argv":[]}]`, "!command-empty"},
		"an empty word":      {may, false, `[{"argv":["","x"]}]`, "!command-empty"},
		"no command":         {may, false, `["a"]`, "!invalid-arguments"},
		"a wrong word":       {may, false, `[{"argv":[1]}]`, "!invalid-arguments"},
		"too many words":     {may, false, words(string(big)), "!command-too-large"},
		"no sandbox":         {may, true, `[{"argv":["a"]}]`, "!sandbox-unavailable"},
		"no sandbox, denied": {denied, true, `[{"argv":["a"]}]`, "!class-denied"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &commands{}
			o := Options{Commands: c}
			if tc.none {
				o.Commands = nil
			}
			rep := do(newBroker(t, tc.policy, o), worker.OpProcessRun, tc.args)
			got := string(rep.Result)
			if rep.Failure != nil {
				got = "!" + rep.Failure.Reason
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if ran := len(c.asked) > 0; ran != !strings.HasPrefix(tc.want, "!") {
				t.Errorf("ran: %v", c.asked)
			}
			if name == "runs" {
				want := worker.Command{Argv: []string{"a", "b"}, Env: [][2]string{{"K", "v"}}, Input: "i"}
				if diff := cmp.Diff(want, c.asked[0]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
