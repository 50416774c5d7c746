package optional

import (
	"encoding/json"
	"testing"
)

func TestOf(t *testing.T) {
	type named string
	got, err := json.Marshal([]any{Of(""), Of("a"), Of(0), Of(-1), Of(named("")), Of(named("b"))})
	if want := `[null,"a",null,-1,null,"b"]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
