package executor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/keyring"
)

func testKeys(t testing.TB) keyring.Keyring {
	t.Helper()
	keys, err := keyring.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestRedact(t *testing.T) {
	type forms = map[string]decision.Form
	keys := testKeys(t)
	key, err := keys.Current(keyring.ParamValue)
	if err != nil {
		t.Fatal(err)
	}
	keyed := func(v string) string {
		d, err := digest.Keyed(key.ID, key.Bytes, json.RawMessage(v))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	plain := func(v string) string {
		d, err := digest.JSON(json.RawMessage(v))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, tc := range map[string]struct {
		args  string
		forms forms
		want  string
		kept  []string
	}{
		"nothing":             {`{"a":1}`, nil, `{"a":1}`, nil},
		"mask":                {`{"b":{"x":1},"a":"s"}`, forms{"/b": "mask"}, `{"b":"***","a":"s"}`, []string{"/b"}},
		"drop":                {`{"b":1,"a":"s","c":2}`, forms{"/b": "drop"}, `{"a":"s","c":2}`, []string{"/b"}},
		"drop the first":      {`{"a":1,"b":2}`, forms{"/a": "drop"}, `{"b":2}`, []string{"/a"}},
		"drop all":            {`{"a":1}`, forms{"/a": "drop"}, `{}`, []string{"/a"}},
		"hash":                {`{"a":"s"}`, forms{"/a": "hash"}, `{"a":"` + plain(`"s"`) + `"}`, []string{"/a"}},
		"hash of an object":   {`{"a":{"y":1.0,"x":2}}`, forms{"/a": "hash"}, `{"a":"` + plain(`{"x":2,"y":1}`) + `"}`, []string{"/a"}},
		"hmac":                {`{"a":"s"}`, forms{"/a": "hmac"}, `{"a":"` + keyed(`"s"`) + `"}`, []string{"/a"}},
		"hmac, whatever name": {`{"b":"s"}`, forms{"/b": "hmac"}, `{"b":"` + keyed(`"s"`) + `"}`, []string{"/b"}},
		"one below":           {`{"b":{"x":1,"y":2}}`, forms{"/b/x": "mask"}, `{"b":{"x":"***","y":2}}`, []string{"/b/x"}},
		"far below":           {`{"a":{"b":{"c":[{"d":"s"},{"d":"t"}]}}}`, forms{"/a/b/c/1/d": "drop"}, `{"a":{"b":{"c":[{"d":"s"},{}]}}}`, []string{"/a/b/c/1/d"}},
		"an element":          {`{"a":["x","y","z"]}`, forms{"/a/1": "drop"}, `{"a":["x",null,"z"]}`, []string{"/a/1"}},
		"a name in a list":    {`{"a":[{"d":"s"}]}`, forms{"/a/d": "mask"}, `{"a":"***"}`, []string{"/a"}},
		"below a text":        {`{"a":"Main Street"}`, forms{"/a/street": "drop"}, `{}`, []string{"/a"}},
		"below null":          {`{"a":null}`, forms{"/a/street": "drop"}, `{"a":null}`, nil},
		"stronger below":      {`{"a":{"b":"s"}}`, forms{"/a": "hash", "/a/b": "mask"}, `{"a":"***"}`, []string{"/a"}},
		"weaker below":        {`{"a":{"b":"s"}}`, forms{"/a": "drop", "/a/b": "hash"}, `{}`, []string{"/a"}},
		"escaped":             {`{"a/b~":1,"c":2}`, forms{"/a~1b~0": "mask"}, `{"a/b~":"***","c":2}`, []string{"/a~1b~0"}},
		"spelt otherwise":     {`{"\u0061":1}`, forms{"/a": "mask"}, `{"\u0061":"***"}`, []string{"/a"}},
		"absent":              {`{"c":2}`, forms{"/a": "mask"}, `{"c":2}`, nil},
		"the whole":           {`{"c":2}`, forms{"": "hash"}, ``, []string{""}},
		"an unknown form":     {`{"a":1}`, forms{"/a": "shred"}, `{}`, []string{"/a"}},
		"no object":           {`[1]`, forms{"/a": "mask"}, ``, nil},
		"broken":              {`{"a":`, forms{"/a": "mask"}, ``, nil},
		"twice":               {`{"a":1,"a":2}`, forms{"/a": "mask"}, ``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := redactor{keys: keys}
			got := r.args(json.RawMessage(tc.args), tc.forms)
			if string(got) != tc.want || !cmp.Equal(r.kept, tc.kept) {
				t.Errorf("%s %v, want %s %v", got, r.kept, tc.want, tc.kept)
			}
		})
	}
}

// TestRedactWithoutKey: what has no digest is masked.
func TestRedactWithoutKey(t *testing.T) {
	r := redactor{keys: noKeys{}}
	if got := r.args(json.RawMessage(`{"a":"s"}`), map[string]decision.Form{"/a": "hmac"}); string(got) != `{"a":"***"}` {
		t.Errorf("%s", got)
	}
}

type noKeys struct{ keyring.Keyring }

func (noKeys) Current(keyring.Purpose) (keyring.Key, error) {
	return keyring.Key{}, bytes.ErrTooLarge
}

func TestHiddenTexts(t *testing.T) {
	for name, tc := range map[string]struct {
		args string
		want []string
		all  bool
	}{
		"a text":      {`{"a":"Main Street"}`, []string{"Main Street"}, true},
		"a number":    {`{"a":12345}`, []string{"12345"}, true},
		"below":       {`{"a":{"name":["x",{"y":"z"}],"n":true}}`, []string{"x", "z"}, true},
		"once":        {`{"a":["x","x"]}`, []string{"x"}, true},
		"too many":    {`{"a":[` + manyTexts(200) + `]}`, nil, false},
		"too long":    {`{"a":"` + strings.Repeat("x", maxHiddenBytes+1) + `"}`, nil, false},
		"of no texts": {`{"a":[null,true,{}]}`, nil, true},
	} {
		r := redactor{}
		r.args(json.RawMessage(tc.args), map[string]decision.Form{"/a": "mask"})
		got, all := r.texts()
		if !cmp.Equal(got, tc.want) || all != tc.all {
			t.Errorf("%s: %v %v, want %v %v", name, got, all, tc.want, tc.all)
		}
	}
}

func manyTexts(n int) string {
	var list []string
	for i := range n {
		b, _ := json.Marshal(strings.Repeat("x", i+1))
		list = append(list, string(b))
	}
	return strings.Join(list, ",")
}

// FuzzRedact: whatever the arguments are, what is hidden is not in what is
// kept, and what is kept is JSON.
func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"a":{"b":"hunter2"},"c":[1,"hunter2"]}`), "/a/b", "drop")
	f.Add([]byte(`{"a":"x"}`), "/a/1", "hmac")
	f.Fuzz(func(t *testing.T, args []byte, pointer, form string) {
		if pointer != "" && pointer[0] != '/' {
			return
		}
		r := redactor{keys: testKeys(t)}
		got := r.args(args, map[string]decision.Form{pointer: decision.Form(form)})
		if got == nil || form == "" {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q", got)
		}
		again := redactor{keys: testKeys(t)}
		again.args(got, map[string]decision.Form{pointer: decision.FormDrop})
		for _, at := range again.hidden {
			if !bytes.HasPrefix(at, []byte(`"sha256:`)) && !bytes.HasPrefix(at, []byte(`"hmac-sha256:`)) && string(at) != `"***"` && string(at) != "null" {
				t.Fatalf("%s is left of %s", at, args)
			}
		}
	})
}
