package standardhook

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	now  = time.Unix(1_700_000_000, 0)
	keyA = bytes.Repeat([]byte{1}, 32)
	keyB = bytes.Repeat([]byte{2}, 32)
	body = []byte(`{"a":1}`)
)

func TestVerify(t *testing.T) {
	good := func() http.Header { return Header([][]byte{keyA}, "msg_1", now, body) }
	for name, tc := range map[string]struct {
		change func(h http.Header)
		body   string
		keys   [][]byte
		after  time.Duration
		want   error
	}{
		"genuine":               {want: nil},
		"at the edge":           {after: Tolerance},
		"from the future":       {after: -Tolerance},
		"too old":               {after: Tolerance + time.Second, want: ErrStale},
		"too new":               {after: -Tolerance - time.Second, want: ErrStale},
		"another body":          {body: `{"a":2}`, want: ErrSignature},
		"another key":           {keys: [][]byte{keyB}, want: ErrSignature},
		"one of two keys":       {keys: [][]byte{keyB, keyA}},
		"no keys":               {keys: [][]byte{}, want: ErrSignature},
		"no signature":          {change: func(h http.Header) { h.Del(headerSignature) }, want: ErrUnsigned},
		"no id":                 {change: func(h http.Header) { h.Del(headerID) }, want: ErrUnsigned},
		"no time":               {change: func(h http.Header) { h.Del(headerTimestamp) }, want: ErrUnsigned},
		"two times":             {change: func(h http.Header) { h.Add(headerTimestamp, "1") }, want: ErrUnsigned},
		"another id":            {change: func(h http.Header) { h.Set(headerID, "msg_2") }, want: ErrSignature},
		"another time":          {change: func(h http.Header) { h.Set(headerTimestamp, strconv.FormatInt(now.Unix()+1, 10)) }, want: ErrSignature},
		"a time with a sign":    {change: func(h http.Header) { h.Set(headerTimestamp, "+"+h.Get(headerTimestamp)) }, want: ErrUnsigned},
		"a time that is none":   {change: func(h http.Header) { h.Set(headerTimestamp, "now") }, want: ErrUnsigned},
		"another version":       {change: func(h http.Header) { h.Set(headerSignature, strings.Replace(h.Get(headerSignature), "v1", "v2", 1)) }, want: ErrSignature},
		"cut":                   {change: func(h http.Header) { h.Set(headerSignature, h.Get(headerSignature)[:20]) }, want: ErrSignature},
		"empty signature":       {change: func(h http.Header) { h.Set(headerSignature, "v1,") }, want: ErrSignature},
		"genuine after another": {change: func(h http.Header) { h.Set(headerSignature, "v1,AAAA v2,x "+h.Get(headerSignature)) }},
		"the id reaches into the time": {change: func(h http.Header) {
			h.Set(headerID, "msg_1."+h.Get(headerTimestamp))
		}, want: ErrUnsigned},
		"too many": {change: func(h http.Header) {
			h.Set(headerSignature, strings.Repeat("v1,AAAA ", maxSignatures)+h.Get(headerSignature))
		}, want: ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			h, b, keys := good(), body, [][]byte{keyA}
			if tc.change != nil {
				tc.change(h)
			}
			if tc.body != "" {
				b = []byte(tc.body)
			}
			if tc.keys != nil {
				keys = tc.keys
			}
			id, err := Verify(keys, h, b, now.Add(tc.after))
			if !errors.Is(err, tc.want) || (err == nil) != (id == "msg_1") {
				t.Errorf("%q, %v; want %v", id, err, tc.want)
			}
		})
	}
}

// TestSign holds the form against a value that another program computed,
// openssl dgst -sha256 -mac HMAC, over the same bytes.
func TestSign(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := Sign([][]byte{key, key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)); got != want+" "+want {
		t.Errorf("got %s", got)
	}
}

func TestSecrets(t *testing.T) {
	line := Prefix + base64.StdEncoding.EncodeToString(keyA)
	for text, n := range map[string]int{
		line: 1, line + "\n" + line + "\n": 2, "": 0, "whsec_": 0, "whsec_AAAA": 0, line[6:]: 0, line + "\nhello": 0,
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := Secrets(file)
		if len(keys) != n || (err == nil) != (n > 0) {
			t.Errorf("%q: %d keys, %v", text, len(keys), err)
		}
		if err != nil && strings.Contains(err.Error(), "hello") {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	h := Header([][]byte{keyA}, "msg_1", now, body)
	f.Add("msg_1", h.Get(headerTimestamp), h.Get(headerSignature), body)
	f.Add("", "", "", []byte(nil))
	f.Add("a", "0", "v1,", []byte("x"))
	f.Fuzz(func(t *testing.T, id, at, signature string, b []byte) {
		got := http.Header{}
		got.Set(headerID, id)
		got.Set(headerTimestamp, at)
		got.Set(headerSignature, signature)
		if _, err := Verify([][]byte{keyA}, got, b, now); err == nil &&
			(id != "msg_1" || at != h.Get(headerTimestamp) || !bytes.Equal(b, body)) {
			t.Errorf("a message that nobody signed: %q %q %q %q", id, at, signature, b)
		}
	})
}
