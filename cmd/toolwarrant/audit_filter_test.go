package main

import (
	"fmt"
	"io"
	"os"
	"testing"
)

// TestNothingOfAPipeIsLost: a log that comes through a pipe, as from <(zcat
// log.gz), is read from its first record on.
func TestNothingOfAPipeIsLost(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if st, err := os.Stat(name); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Skip("no descriptor has a name here")
	}
	const text = "whatever it is"
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := areLogs([]string{name}); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != text {
		t.Errorf("%q is left: %v", got, err)
	}
}
