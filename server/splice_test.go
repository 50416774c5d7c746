package server

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestStand(t *testing.T) {
	s := newStand([][]byte{[]byte(`{"a":`), []byte(`1}`)})
	if other := newStand(nil); bytes.Equal(s.word, other.word) {
		t.Error("two lists have one word")
	}
	for _, tc := range []struct{ message, want string }{
		{`{"tools":` + string(s.word) + `}`, `{"tools":[{"a":1}]}`},
		{`data: {"x":1,"tools":` + string(s.word) + "}\n\n", "data: {\"x\":1,\"tools\":[{\"a\":1}]}\n\n"},
		{`{"tools":"list-else"}`, `{"tools":"list-else"}`},
	} {
		var out bytes.Buffer
		n, done, err := s.writeTo(&out, []byte(tc.message))
		if err != nil || n != len(tc.message) || out.String() != tc.want || done == (tc.message == tc.want) {
			t.Errorf("%s: %s, %d, %v, %v", tc.message, out.String(), n, done, err)
		}
	}
}

// An outlet writes its list once, into the message that has the word, and
// passes everything else.
func TestOutlet(t *testing.T) {
	rec := httptest.NewRecorder()
	o := &outlet{ResponseWriter: rec}
	s := newStand([][]byte{[]byte(`1,2`)})
	if _, err := o.Write([]byte("before ")); err != nil || !o.expect(s) || o.expect(newStand(nil)) {
		t.Error("one list at a time is expected", err)
	}
	for _, p := range []string{"no word ", string(s.word), " " + string(s.word)} {
		if n, err := o.Write([]byte(p)); err != nil || n != len(p) {
			t.Error(n, err)
		}
	}
	if want := "before no word [1,2] " + string(s.word); rec.Body.String() != want {
		t.Errorf("%q, want %q", rec.Body.String(), want)
	}
	if err := http.NewResponseController(o).Flush(); err != nil || !rec.Flushed {
		t.Error("it cannot be flushed", err)
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errors.New("broken")
	}
	return len(p), nil
}

// A client that goes away in the middle of a list is an error of the write.
func TestStandBroken(t *testing.T) {
	s := newStand([][]byte{[]byte(`1`)})
	large := newStand([][]byte{bytes.Repeat([]byte("1,"), 1<<20), []byte("1")})
	for after := range 2 {
		if _, _, err := large.writeTo(&broken{after}, append([]byte("x"), large.word...)); err == nil {
			t.Errorf("after %d writes: no error", after)
		}
	}
	var out bytes.Buffer // what is left of a broken one is not in the next
	if _, _, err := s.writeTo(&out, append([]byte("x"), s.word...)); err != nil || out.String() != "x[1]" {
		t.Errorf("%v: %.100s", err, out.String())
	}
	l := &lineWriter{out: &broken{0}, open: map[string]bool{}}
	if !l.expect(s) {
		t.Fatal("not expected")
	}
	if _, err := l.Write(append(s.word, '\n')); err == nil || l.failure() == nil {
		t.Error("no error over stdio")
	}
}

// More lists than are waited for are carried by their messages.
func TestStdioWaitsForSoMany(t *testing.T) {
	l := &lineWriter{open: map[string]bool{}}
	for range maxWaiting {
		if !l.expect(newStand(nil)) {
			t.Fatal("not expected")
		}
	}
	if l.expect(newStand(nil)) {
		t.Error("without end")
	}
}
