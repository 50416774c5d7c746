package config

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

// FuzzLoad: whatever the file holds, the answer is a complete configuration
// or a USAGE error that points into the file; and what was accepted means the
// same when it is written out and read again.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "version: 1\naddr: 127.0.0.1:8282\n", "catalog: {include: {names: [a]}}\n", "{\"log\":{\"level\":\"info\"}}",
		"a: &a [*a]\n", "<<: {}\n", "? {}\n: x\n", "name: !!binary aGk=\n", "---\n---\n", "\ufeffname: é\n", "{\"a\":", "name: 'x\n",
		"server: {drain-seconds: 07, max-body-bytes: 1_000}\n", "secrets:\n  grants:\n  - names: [A]\n", "%YAML 1.1\n--- {}\n",
		"name: 2020-01-01\n", "policy: ~\n", "name: |\n  a\n  b\n", "\"\\/\": 1\n", "[[[[[[", "x: .inf\n", "version: -1\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		name := "c.yaml"
		if asJSON {
			name = "c.json"
		}
		c, err := parsed(name, data)
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Code != fault.Usage || e.Reason == "" || e.Message == "" {
				t.Fatalf("error %v is no USAGE fault", err)
			}
			if e.File != name || e.Line < 0 || e.Column < 0 {
				t.Fatalf("error %v points nowhere", e)
			}
			return
		}
		first, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsed("c.json", first)
		if err != nil {
			t.Fatalf("%s is accepted and refused when written out: %v", data, err)
		}
		second, err := json.Marshal(again)
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s became %s (%v)", first, second, err)
		}
	})
}

// FuzzEnvironment: any environment gives a configuration or a USAGE error.
func FuzzEnvironment(f *testing.F) {
	f.Add("TOOLWARRANT_SECRETS_GRANTS", `[{"names":["A"]}]`)
	f.Add("TOOLWARRANT_LOG", `{"level":"info"}`)
	f.Add("TOOLWARRANT_SERVER_DRAIN_SECONDS", "-0")
	f.Add("TOOLWARRANT_", "=")
	f.Fuzz(func(t *testing.T, name, value string) {
		_, err := Load("", []string{name + "=" + value}, nil)
		var e *fault.Error
		if err != nil && (!errors.As(err, &e) || e.Code != fault.Usage) {
			t.Fatalf("error %v is no USAGE fault", err)
		}
	})
}
