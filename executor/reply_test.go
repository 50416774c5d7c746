package executor

import (
	"encoding/json"
	"testing"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

func TestDroppedLinesAreMarked(t *testing.T) {
	g := newRig(t, plainTool)
	for emitted, want := range map[int64]string{
		2: "",
		9: "[toolwarrant] 7 more lines were dropped: a call keeps a limited number of lines and bytes",
	} {
		g.run = func(worker.Call, worker.Broker) (worker.Reply, error) {
			return worker.Reply{Result: json.RawMessage("1"), Usage: worker.Usage{LogLines: emitted},
				Logs: []worker.LogLine{{Level: "log", Text: "a"}, {Level: "log", Text: "b"}}}, nil
		}
		res := g.Call(t.Context(), Call{Name: "t", Principal: decision.Principal{Subject: "s"}})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		got := ""
		if len(res.Logs) > 2 {
			got = res.Logs[2].Text
		}
		if got != want {
			t.Errorf("%d lines emitted: the mark is %q, want %q", emitted, got, want)
		}
	}
}

// TestArgumentsAreNotExpanded holds that what a model sends is data: nothing
// in it is looked up in the environment or among the secrets.
func TestArgumentsAreNotExpanded(t *testing.T) {
	g := newRig(t, plainTool)
	t.Setenv("TOOLWARRANT_TEST_SECRET", "hidden")
	for _, text := range []string{"${TOOLWARRANT_TEST_SECRET}", "$TOOLWARRANT_TEST_SECRET", "%TOOLWARRANT_TEST_SECRET%", "{{a}}", "{toolName}", "${a}", "`id`", "$(id)", "~"} {
		args, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		var got worker.Call
		g.run = func(c worker.Call, _ worker.Broker) (worker.Reply, error) {
			got = c
			return worker.Reply{Result: json.RawMessage("1")}, nil
		}
		if res := g.Call(t.Context(), Call{Name: "t", Args: args, Principal: decision.Principal{Subject: "s"}}); res.Err != nil {
			t.Fatal(res.Err)
		}
		var read map[string]string
		if err := json.Unmarshal(got.Args, &read); err != nil || read["a"] != text {
			t.Errorf("%q became %s", text, got.Args)
		}
	}
}
