package server

import "testing"

// TestQuestionHasNoNull: a question has a list of content, if an empty one.
func TestQuestionHasNoNull(t *testing.T) {
	_, url := start(t, newFake())
	res := modernCall(t, url, "a", "danger", `,"arguments":{"p":1}`)
	if list, ok := res["content"].([]any); !ok || len(list) != 0 || res["resultType"] != "input_required" {
		t.Errorf("%v", res)
	}
}
