package config

import (
	"path/filepath"
	"testing"
)

func TestEnvironmentErrors(t *testing.T) {
	tests := map[string]struct {
		env  string
		want failure
	}{
		"unknown":      {"TOOLWARRANT_ADRR=x:1", failure{"unknown-key", "", 0, 0, `did you mean "TOOLWARRANT_ADDR"?`}},
		"unknown home": {"TOOLWARRANT_HOMEE=/x", failure{"unknown-key", "", 0, 0, `did you mean "TOOLWARRANT_HOME"?`}},
		"empty and unknown": {"TOOLWARRANT_POLICY_ALOW_OPEN_MODE=",
			failure{"unknown-key", "", 0, 0, `"TOOLWARRANT_POLICY_ALLOW_OPEN_MODE"`}},
		"truth":       {"TOOLWARRANT_POLICY_ALLOW_OPEN_MODE=yes", failure{"bad-value", "/policy/allow-open-mode", 0, 0, "TOOLWARRANT_POLICY_ALLOW_OPEN_MODE: policy.allow-open-mode wants true or false"}},
		"number":      {"TOOLWARRANT_SERVER_DRAIN_SECONDS=1e3", failure{"bad-value", "/server/drain-seconds", 0, 0, "whole number"}},
		"bound":       {"TOOLWARRANT_SERVER_DRAIN_SECONDS=-1", failure{"bad-value", "/server/drain-seconds", 0, 0, "TOOLWARRANT_SERVER_DRAIN_SECONDS: server.drain-seconds wants at least 0"}},
		"word":        {"TOOLWARRANT_LOG_LEVEL=loud", failure{"bad-value", "/log/level", 0, 0, "one of debug"}},
		"entry":       {"TOOLWARRANT_EGRESS_PRIVATE_HOSTS=a:1,b", failure{"bad-value", "/egress/private-hosts/1", 0, 0, "host:port"}},
		"broken json": {"TOOLWARRANT_SECRETS_GRANTS=[{", failure{"bad-syntax", "", 0, 0, "TOOLWARRANT_SECRETS_GRANTS: the document is not JSON"}},
		"not a list":  {"TOOLWARRANT_SECRETS_GRANTS={}", failure{"bad-value", "/secrets/grants", 0, 0, "wants a list, not an object"}},
		"inside json": {`TOOLWARRANT_SECRETS_GRANTS=[{"names":["A"],"tols":[]}]`, failure{"unknown-key", "/secrets/grants/0/tols", 0, 0, "TOOLWARRANT_SECRETS_GRANTS: there is no key"}},
		"section":     {`TOOLWARRANT_LOG={"level":"info","level":"warn"}`, failure{"duplicate-key", "/level", 0, 0, "given twice"}},
		"version":     {"TOOLWARRANT_VERSION=9", failure{"newer-version", "/version", 0, 0, "version 9"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load("", []string{tc.env}, nil)
			check(t, err, "", tc.want)
		})
	}
}

func TestFlagErrors(t *testing.T) {
	tests := map[string]struct {
		key   string
		value any
		want  failure
	}{
		"unknown": {"catalog.presets", "x", failure{"unknown-key", "/catalog/presets", 0, 0, `did you mean "catalog.preset"?`}},
		"type":    {"addr", 1, failure{"bad-value", "/addr", 0, 0, "option addr: addr wants a text"}},
		"bound":   {"server.drain-seconds", 1 << 20, failure{"bad-value", "/server/drain-seconds", 0, 0, "option server.drain-seconds"}},
		"text":    {"policy.allow-open-mode", "on", failure{"bad-value", "/policy/allow-open-mode", 0, 0, "true or false"}},
		"no json": {"name", func() {}, failure{"bad-value", "/name", 0, 0, "no JSON form"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load("", nil, map[string]any{tc.key: tc.value})
			check(t, err, "", tc.want)
		})
	}
}

// TestVariables: no two keys may share a variable, since then one of them
// could not be set.
func TestVariables(t *testing.T) {
	s, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	s.root.walk(func(k *key) {
		keys++
		if k.kind != object && k.fallback == nil {
			t.Errorf("%s has no default", dotted(k.path))
		}
		if k.doc == "" && len(k.path) > 0 {
			t.Errorf("%s has no description", dotted(k.path))
		}
		if len(k.path) > 0 && s.vars[HomeVariable] != nil {
			t.Errorf("%s takes the variable of the home", dotted(k.path))
		}
	})
	if len(s.vars) != keys-1 {
		t.Errorf("%d variables for %d keys", len(s.vars), keys-1)
	}
}

func TestHome(t *testing.T) {
	user := func() (string, error) { return "/u", nil }
	data, err := filepath.Abs(filepath.FromSlash("/x"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		flag   string
		env    []string
		system string
		want   string
	}{
		"flag":            {"/f", []string{"TOOLWARRANT_HOME=/e"}, "linux", "/f"},
		"variable":        {"", []string{"TOOLWARRANT_HOME=/e", "XDG_DATA_HOME=" + data}, "linux", "/e"},
		"xdg":             {"", []string{"TOOLWARRANT_HOME=", "XDG_DATA_HOME=" + data}, "linux", "/x/toolwarrant"},
		"xdg is relative": {"", []string{"XDG_DATA_HOME=x"}, "linux", "/u/.local/share/toolwarrant"},
		"linux":           {"", nil, "linux", "/u/.local/share/toolwarrant"},
		"darwin":          {"", []string{"XDG_DATA_HOME=" + data}, "darwin", "/u/Library/Application Support/toolwarrant"},
		"windows":         {"", []string{"LocalAppData=/l"}, "windows", "/l/toolwarrant"},
		"windows without": {"", nil, "windows", "/u/AppData/Local/toolwarrant"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := home(tc.flag, tc.env, tc.system, user)
			want, _ := filepath.Abs(filepath.FromSlash(tc.want))
			if err != nil || got != want {
				t.Errorf("home %q, %v; want %q", got, err, want)
			}
		})
	}
	if got, err := Home("rel", nil); err != nil || !filepath.IsAbs(got) {
		t.Errorf("Home(rel) = %q, %v; want an absolute path", got, err)
	}
	_, err = home("", nil, "linux", func() (string, error) { return "", filepath.ErrBadPattern })
	check(t, err, "", failure{"no-home", "", 0, 0, "--home"})
}
