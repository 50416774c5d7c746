package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

func defaultConfig() *Config {
	none := []string{}
	filter := Filter{Names: none, Tags: none, Categories: none}
	return &Config{
		Version: 1, Addr: "127.0.0.1:8282", Name: "toolwarrant",
		Catalog: Catalog{Dirs: none, Include: filter, Exclude: filter},
		Policy:  Policy{Path: "builtin", Keys: []string{}, ShadowWaitMillis: 100, PollSeconds: 60},
		FS:      FS{Roots: none},
		Egress:  Egress{PrivateHosts: none},
		Secrets: Secrets{Grants: []Grant{}},
		Audit:   Audit{Fsync: "group", FsyncMillis: 100, Rotate: Rotate{Bytes: 256 << 20}, Index: true, Checkpoint: Checkpoint{EverySeconds: 60, EveryRecords: 1000}, Sinks: []Sink{}},
		Runtime: Runtime{Isolation: "process"},
		Sandbox: Sandbox{Enabled: true, Backends: []string{}},
		Server: Server{AllowedHosts: none, AllowedOrigins: none, MaxBodyBytes: 4 << 20,
			SessionTimeoutSeconds: 1800, DrainSeconds: 30},
		Log: Log{Level: "info", Format: "text"},
		Auth: Auth{
			OIDC: OIDC{Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"}, Scopes: []string{}, GroupsClaim: "groups", ClockSkewSeconds: 60},
			MTLS: MTLS{Subject: "cn", Groups: "none"},
		},
		Limits: Limits{
			Running: 256, Waiting: 1024, WaitMillis: 5000, Requests: 4096, BodyBytes: 256 << 20, Connections: 10000,
			Sessions: 10000, SessionsEach: 2000, SharePercent: 25, Listens: 5000, ListensEach: 1000, ReaderSeconds: 30, HeapFloor: 64 << 20,
		},
		Telemetry: Telemetry{SamplePercent: 100},
		Approvals: Approvals{Webhook: ApprovalWebhook{TimeoutSeconds: 5}, Callback: ApprovalCallback{Groups: []string{}}},
		Admin: Admin{Addr: "127.0.0.1:8283", AllowedHosts: none, AllowedOrigins: none, MaxBodyBytes: 4 << 20,
			Roles: Roles{Viewer: RoleOf{none, none, none}, Author: RoleOf{none, none, none}, Approver: RoleOf{none, none, none}, Admin: RoleOf{none, none, none}}},
	}
}

func TestDefaults(t *testing.T) {
	got, err := Load("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(defaultConfig(), got); d != "" {
		t.Errorf("defaults (-want +got):\n%s", d)
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPrecedence(t *testing.T) {
	file := write(t, "c.yaml", `
addr: 127.0.0.1:1
name: from-file
catalog:
  preset: file
  include: {names: [a, b], tags: [t]}
policy: {path: ./p}
log:
  level: warn
`)
	env := []string{
		"PATH=/bin", "TOOLWARRANT_HOME=/h", "TOOLWARRANT_NAME=old", "TOOLWARRANT_NAME=from-env", "TOOLWARRANT_POLICY_PATH=env",
		"TOOLWARRANT_CATALOG_INCLUDE_NAMES= c , d,", "TOOLWARRANT_EGRESS_PRIVATE_HOSTS=[\"h:1\"]",
		"TOOLWARRANT_SERVER_MAX_BODY_BYTES=2048", "TOOLWARRANT_POLICY_ALLOW_OPEN_MODE=true",
		`TOOLWARRANT_SECRETS_GRANTS=[{"names":["A_*"],"tools":["x"]}]`,
		`TOOLWARRANT_CATALOG={"preset":"section","dirs":["/d"]}`, "TOOLWARRANT_LOG_FORMAT=",
	}
	flags := map[string]any{
		"policy.path": "flag", "fs.roots": []string{"/r"}, "server.drain-seconds": 5, "catalog.exclude.tags": "x,y",
		"egress.private-hosts": []string(nil),
	}
	want := defaultConfig()
	want.Addr, want.Name, want.Log.Level = "127.0.0.1:1", "from-env", "warn"
	want.Catalog.Preset, want.Catalog.Dirs = "section", []string{"/d"}
	want.Catalog.Include = Filter{Names: []string{"c", "d"}, Tags: []string{"t"}, Categories: []string{}}
	want.Catalog.Exclude.Tags = []string{"x", "y"}
	want.Policy = Policy{Path: "flag", Keys: []string{}, ShadowWaitMillis: 100, PollSeconds: 60, AllowOpenMode: true}
	want.Egress.PrivateHosts = []string{"h:1"}
	want.FS.Roots = []string{"/r"}
	want.Server.MaxBodyBytes, want.Server.DrainSeconds = 2048, 5
	want.Secrets.Grants = []Grant{{Names: []string{"A_*"}, Tools: []string{"x"}}}
	got, err := Load(file, env, flags)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("configuration (-want +got):\n%s", d)
	}
}

func TestJSONAndYAMLAgree(t *testing.T) {
	yaml := "catalog:\n  dirs: [/d]\nserver: {drain-seconds: 7}\nfs:\nname: \"2026\"\n"
	json := "\ufeff{\n\t\"catalog\": {\"dirs\": [\"/d\"]},\n\t\"server\": {\"drain-seconds\": 7}, \"fs\": null, \"name\": \"2026\"}"
	a, err := parsed("c.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c.json", "c.yaml"} { // JSON is seen by its content too
		b, err := parsed(name, []byte(json))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%s: (-yaml +json):\n%s", name, d)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, content := range []string{"", "# nothing\n", "---\n", "null", "{}", "version: 1\n"} {
		got, err := parsed("c.yaml", []byte(content))
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		if d := cmp.Diff(defaultConfig(), got); d != "" {
			t.Errorf("%q (-want +got):\n%s", content, d)
		}
	}
}

// place is what an error says besides its message.
type failure struct {
	Reason, Pointer string
	Line, Column    int
	Says            string
}

func check(t *testing.T, err error, file string, want failure) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("error %v (%T), want a fault", err, err)
	}
	got := failure{f.Reason, f.Pointer, f.Line, f.Column, want.Says}
	if !strings.Contains(f.Message, want.Says) {
		t.Errorf("message %q does not say %q", f.Message, want.Says)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("error %v (-want +got):\n%s", f, d)
	}
	if f.Code != fault.Usage || f.File != file || f.Message == "" {
		t.Errorf("error %v, want code USAGE and file %q", f, file)
	}
}

func TestFileErrors(t *testing.T) {
	tests := map[string]struct {
		name, content string
		want          failure
	}{
		"unknown top": {"c.yaml", "addr: a:1\nadrr: b:2\n", failure{"unknown-key", "/adrr", 2, 1, `did you mean "addr"?`}},
		"unknown nested": {"c.yaml", "policy:\n  allowOpenMode: true\n",
			failure{"unknown-key", "/policy/allowOpenMode", 2, 3, `did you mean "policy.allow-open-mode"?`}},
		"wrong section": {"c.yaml", "allow-open-mode: true\n", failure{"unknown-key", "/allow-open-mode", 1, 1, `did you mean "policy.allow-open-mode"?`}},
		"unknown far":   {"c.yaml", "zzzzqqqq: 1\n", failure{"unknown-key", "/zzzzqqqq", 1, 1, "there is no key"}},
		"unknown in list": {"c.yaml", "secrets:\n  grants:\n    - names: [A]\n      tool: [x]\n",
			failure{"unknown-key", "/secrets/grants/0/tool", 4, 7, "there is no key"}},
		"pointer escapes": {"c.yaml", "\"a/b~c\": 1\n", failure{"unknown-key", "/a~1b~0c", 1, 1, ""}},
		"home is no key":  {"c.yaml", "home: /x\n", failure{"unknown-key", "/home", 1, 1, ""}},
		"number for text": {"c.yaml", "log: {level: info}\nname: 2026\n", failure{"bad-value", "/name", 2, 7, "wants a text, not a number"}},
		"text for number": {"c.yaml", "server:\n  drain-seconds: soon\n", failure{"bad-value", "/server/drain-seconds", 2, 18, "wants a number, not a text"}},
		"yaml 1.1 yes":    {"c.yaml", "policy: {allow-open-mode: yes}\n", failure{"bad-value", "/policy/allow-open-mode", 1, 27, "wants true or false"}},
		"fraction":        {"c.yaml", "server: {drain-seconds: 1.0}\n", failure{"bad-value", "/server/drain-seconds", 1, 25, "whole number"}},
		"hexadecimal":     {"c.yaml", "server: {drain-seconds: 0x10}\n", failure{"bad-value", "/server/drain-seconds", 1, 25, "decimal"}},
		"huge number": {"c.yaml", "server: {drain-seconds: 99999999999999999999}\n",
			failure{"bad-value", "/server/drain-seconds", 1, 25, "whole number"}},
		"too large":        {"c.yaml", "server:\n  max-body-bytes: 999999999\n", failure{"bad-value", "/server/max-body-bytes", 2, 19, "at most 67108864"}},
		"too small":        {"c.yaml", "server: {max-body-bytes: 1}\n", failure{"bad-value", "/server/max-body-bytes", 1, 26, "at least 1024"}},
		"unknown word":     {"c.yaml", "log:\n  level: loud\n", failure{"bad-value", "/log/level", 2, 10, "one of debug, info, warn, error"}},
		"no port":          {"c.yaml", "addr: localhost\n", failure{"bad-value", "/addr", 1, 7, "host:port"}},
		"plain issuer":     {"c.yaml", "auth: {oidc: {issuer: 'http://login.example'}}\n", failure{"bad-value", "/auth/oidc/issuer", 1, 23, "wants https://..., or http:// to a loopback address"}},
		"empty entry":      {"c.yaml", "fs:\n  roots: [/a, '']\n", failure{"bad-value", "/fs/roots/1", 2, 15, "not empty"}},
		"grant for nobody": {"c.yaml", "secrets: {grants: [{tools: [x]}]}\n", failure{"bad-value", "/secrets/grants/0", 1, 20, "lacks names"}},
		"null in a list":   {"c.yaml", "fs: {roots: [null]}\n", failure{"bad-value", "/fs/roots/0", 1, 14, "not null"}},
		"list for text":    {"c.yaml", "addr: [x]\n", failure{"bad-value", "/addr", 1, 7, "wants a text, not a list"}},
		"text for section": {"c.yaml", "policy: builtin\n", failure{"bad-value", "/policy", 1, 9, "wants an object, not a text"}},
		"a list":           {"c.yaml", "- addr\n", failure{"bad-value", "", 1, 1, "the configuration wants an object"}},
		"byte columns":     {"c.yaml", "name: {é: 1}\n", failure{"bad-value", "/name", 1, 7, ""}},
		"byte columns 2":   {"c.yaml", "{name: \"éé\", adr: 1}\n", failure{"unknown-key", "/adr", 1, 16, `"addr"`}},
		"twice":            {"c.yaml", "addr: a:1\nname: x\naddr: b:1\n", failure{"duplicate-key", "/addr", 3, 1, "given twice"}},
		"twice below":      {"c.yaml", "log: {level: info, level: warn}\n", failure{"duplicate-key", "/log/level", 1, 20, "given twice"}},
		"twice json":       {"c.json", "{\"name\":\"a\",\n  \"name\":\"b\"}", failure{"duplicate-key", "/name", 2, 3, "given twice"}},
		"unknown json":     {"c.json", "{\n  \"log\": {\"levl\": \"info\"}}", failure{"unknown-key", "/log/levl", 2, 11, `"log.level"`}},
		"value json":       {"c.json", "{\"log\": {\"level\" :  3}}", failure{"bad-value", "/log/level", 1, 21, "wants a text"}},
		"broken json":      {"c.json", "{\"name\": \"a\",\n  oops}", failure{"bad-syntax", "", 2, 3, "not JSON"}},
		"short json":       {"c.json", "{\"name\": ", failure{"bad-syntax", "", 1, 10, "ends too early"}},
		"json and more":    {"c.json", "{} {}", failure{"bad-syntax", "", 1, 4, "after the end"}},
		"yaml named json":  {"c.json", "name: x\n", failure{"bad-syntax", "", 1, 2, "not JSON"}},
		"broken yaml":      {"c.yaml", "name: x\n  bad: [\n", failure{"bad-syntax", "", 2, 1, "not YAML"}},
		"two documents":    {"c.yaml", "name: x\n---\nname: y\n", failure{"bad-syntax", "", 2, 1, "second"}},
		"alias":            {"c.yaml", "fs: {roots: &a [/x]}\ncatalog: {dirs: *a}\n", failure{"bad-value", "/fs/roots", 1, 13, "anchors"}},
		"merge key":        {"c.yaml", "log:\n  <<: {level: info}\n", failure{"bad-value", "/log", 2, 3, "plain word"}},
		"complex key":      {"c.yaml", "? [a]\n: b\n", failure{"bad-value", "", 1, 3, "plain word"}},
		"tag":              {"c.yaml", "name: !secret x\n", failure{"bad-value", "/name", 1, 7, "!secret"}},
		"binary":           {"c.yaml", "name: !!binary eA==\n", failure{"bad-value", "/name", 1, 7, "!!binary"}},
		"map tag":          {"c.yaml", "log: !x {level: info}\n", failure{"bad-value", "/log", 1, 6, "!x"}},
		"not text":         {"c.yaml", "name: \xff\n", failure{"bad-syntax", "", 0, 0, "UTF-8"}},
		"newer":            {"c.yaml", "version: 2\nwhatever: {}\n", failure{"newer-version", "/version", 1, 10, "use a newer toolwarrant"}},
		"much newer":       {"c.yaml", "version: 123456789012345678901\n", failure{"newer-version", "/version", 1, 10, ""}},
		"version zero":     {"c.yaml", "version: 0\n", failure{"bad-value", "/version", 1, 10, "at least 1"}},
		"version text":     {"c.yaml", "version: one\n", failure{"bad-value", "/version", 1, 10, "wants a number"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(tc.name, []byte(tc.content))
			check(t, err, tc.name, tc.want)
		})
	}
}

func TestBounds(t *testing.T) {
	big := "# " + strings.Repeat("x", MaxBytes)
	_, err := parsed("c.yaml", []byte(big))
	check(t, err, "c.yaml", failure{"too-large", "", 0, 0, "at most"})
	file := write(t, "c.yaml", big)
	_, err = Load(file, nil, nil)
	check(t, err, file, failure{"too-large", "", 0, 0, "at most"})

	for name, content := range map[string]string{
		"yaml lists":   "name: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"json lists":   `{"name": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
		"json objects": strings.Repeat(`{"name":`, 5000) + "1" + strings.Repeat("}", 5000),
		"unclosed":     strings.Repeat("[", MaxBytes-1),
		"laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d]\n" +
			strings.Repeat("f: [*d, *d, *d]\n", 100),
	} {
		if _, err := parsed("c", []byte(content)); fault.From(err) == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%s: %v, want a USAGE error", name, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.yaml")
	_, err := Load(file, nil, nil)
	check(t, err, file, failure{"unreadable", "", 0, 0, "cannot be read"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not keep its cause", err)
	}
	dir := t.TempDir()
	_, err = Load(dir, nil, nil)
	check(t, err, dir, failure{"unreadable", "", 0, 0, "cannot be read"})
}

// parsed is Load of one file's content over the defaults. The name is what
// errors call it; a name that ends in .json is read as JSON.
func parsed(name string, data []byte) (*Config, error) {
	s, err := loadSchema()
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, tooLarge(name)
	}
	layer, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	tree, err := s.over(s.defaults(), layer)
	if err != nil {
		return nil, err
	}
	if err := s.validate(tree); err != nil {
		return nil, err
	}
	return decode(tree)
}
