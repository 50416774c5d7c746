package query

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// TestParams: a value is found in every form in which a record may have it, and
// in none that tells nothing.
func TestParams(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	keyed := func(id, v string) string {
		d, err := digest.Keyed(id, key, json.RawMessage(v))
		if err != nil {
			t.Fatal(err)
		}
		return `"` + d + `"`
	}
	plain := func(v string) string { return `"` + digest.Bytes([]byte(v)) + `"` }
	for name, c := range map[string]struct {
		params  string
		want    []string
		fits    bool
		foreign []string
	}{
		"a text":                   {`{"ssn":"1-2"}`, []string{"ssn=1-2"}, true, nil},
		"another text":             {`{"ssn":"1-3"}`, []string{"ssn=1-2"}, false, nil},
		"a number":                 {`{"n":5}`, []string{"n=5"}, true, nil},
		"the same number":          {`{"n":5}`, []string{"n=5.0"}, true, nil},
		"a text of a number":       {`{"n":"5"}`, []string{"n=5"}, true, nil},
		"an object":                {`{"o":{"b":1,"a":2}}`, []string{`o={"a":2,"b":1}`}, true, nil},
		"an empty text":            {`{"n":""}`, []string{"n="}, true, nil},
		"with an equals sign":      {`{"n":"a=b"}`, []string{"n=a=b"}, true, nil},
		"a hash":                   {`{"ssn":` + plain(`"1-2"`) + `}`, []string{"ssn=1-2"}, true, nil},
		"a hash of a number":       {`{"n":` + plain(`5`) + `}`, []string{"n=5"}, true, nil},
		"a hash of another":        {`{"ssn":` + plain(`"1-3"`) + `}`, []string{"ssn=1-2"}, false, nil},
		"keyed":                    {`{"ssn":` + keyed("k1", `"1-2"`) + `}`, []string{"ssn=1-2"}, true, nil},
		"keyed, an object":         {`{"o":` + keyed("k1", `{"a":2,"b":1}`) + `}`, []string{`o={"b": 1, "a": 2}`}, true, nil},
		"keyed, another":           {`{"ssn":` + keyed("k1", `"1-3"`) + `}`, []string{"ssn=1-2"}, false, nil},
		"by another key":           {`{"ssn":` + keyed("k2", `"1-2"`) + `}`, []string{"ssn=1-2"}, false, []string{"k2"}},
		"masked":                   {`{"ssn":"***"}`, []string{"ssn=1-2"}, false, nil},
		"dropped":                  {`{}`, []string{"ssn=1-2"}, false, nil},
		"none":                     {`null`, []string{"ssn=1-2"}, false, nil},
		"below":                    {`{"a":{"b":["x",{"c/d":"1-2"}]}}`, []string{"/a/b/1/c~1d=1-2"}, true, nil},
		"below, keyed":             {`{"a":{"zip":` + keyed("k1", `"10115"`) + `}}`, []string{"/a/zip=10115"}, true, nil},
		"below a text":             {`{"a":"x"}`, []string{"/a/b=x"}, false, nil},
		"beyond a list":            {`{"a":["x"]}`, []string{"/a/1=x"}, false, nil},
		"one of two values":        {`{"n":"b"}`, []string{"n=a", "n=b"}, true, nil},
		"all of two names":         {`{"n":"a","m":"b"}`, []string{"n=a", "m=b"}, true, nil},
		"one of two names":         {`{"n":"a","m":"c"}`, []string{"n=a", "m=b"}, false, nil},
		"what looks like a digest": {`{"n":"hmac-sha256:x"}`, []string{"n=a"}, false, nil},
	} {
		var f Filter
		for _, text := range c.want {
			p, err := ParseParam(text)
			if err != nil {
				t.Fatal(err)
			}
			f.Params = append(f.Params, p)
		}
		f.Key = func(id string) ([]byte, bool) { return key, id == "k1" }
		m := newMatcher(f)
		if got := m.params(&audit.Record{Call: audit.Call{Params: json.RawMessage(c.params)}}); got != c.fits {
			t.Errorf("%s: %v, want %v", name, got, c.fits)
		}
		var said []string
		m.strangers(func(text string) { said = append(said, text) })
		if len(said) != len(c.foreign) {
			t.Errorf("%s: said %v of %v", name, said, c.foreign)
		}
	}
	for _, bad := range []string{"", "x", "=x"} {
		if _, err := ParseParam(bad); fault.From(err).Code != fault.Usage {
			t.Errorf("%q is taken: %v", bad, err)
		}
	}
	if !slices.Equal(hidden(&audit.Record{}), nil) {
		t.Error("a record without a decision hides nothing")
	}
}
