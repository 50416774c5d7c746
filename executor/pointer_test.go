package executor

import (
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// TestMaskedPointer: a name in a pointer is masked, although its slashes and
// tildes are escaped there.
func TestMaskedPointer(t *testing.T) {
	m := mask.New([]string{"sEcr3t/va~lue", "s3cret"})
	for in, want := range map[string]string{
		"":                        "",
		"/a/0/b~1c":               "/a/0/b~1c",
		"/args/sEcr3t~1va~0lue/x": "/args/***/x",
		"/as3cretb":               "/a***b",
	} {
		if got := maskedPointer(m, in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := maskedPointer(nil, "/a~1b"); got != "/a~1b" {
		t.Error(got)
	}
}
