package secret

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

func env(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

func write(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secrets.yaml")
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolve(t *testing.T) {
	vars := map[string]string{
		"API_KEY": "hunter22", "HOST": "api.example.com", "SHORT": "abc", "BLANK": " \t", "EMPTY": "",
		"NESTED": "${API_KEY}", "TOOLWARRANT_KEY": "never", "_X9": "underscore", "PADDED": " token77\n", "lower": "nope",
	}
	all := []string{"API_KEY", "HOST", "SHORT", "BLANK", "EMPTY", "NESTED", "TOOLWARRANT_KEY", "_X9", "PADDED", "lower", "ABSENT"}
	tests := []struct {
		name    string
		statics []spec.StaticVariable
		granted []string
		values  []worker.Static
		secrets []string
		missing []Missing
	}{
		{"anchored", []spec.StaticVariable{{Key: "k", Value: "${API_KEY}"}}, all,
			[]worker.Static{{Name: "k", Value: "hunter22"}}, []string{"hunter22"}, nil},
		{"embedded and several", []spec.StaticVariable{{Key: "u", Value: "https://${HOST}/?k=${API_KEY}"}}, all,
			[]worker.Static{{Name: "u", Value: "https://api.example.com/?k=hunter22"}},
			[]string{"api.example.com", "hunter22", "https://api.example.com/?k=hunter22"}, nil},
		{"literal is no secret", []spec.StaticVariable{{Key: "c", Value: "12345-abc"}}, all,
			[]worker.Static{{Name: "c", Value: "12345-abc"}}, nil, nil},
		{"short value is not masked, its whole is", []spec.StaticVariable{{Key: "s", Value: "x${SHORT}y"}}, all,
			[]worker.Static{{Name: "s", Value: "xabcy"}}, []string{"xabcy"}, nil},
		{"one pass only", []spec.StaticVariable{{Key: "n", Value: "${NESTED}"}}, all,
			[]worker.Static{{Name: "n", Value: "${API_KEY}"}}, []string{"${API_KEY}"}, nil},
		{"later key wins in the first place", []spec.StaticVariable{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "a", Value: "3"}}, all,
			[]worker.Static{{Name: "a", Value: "3"}, {Name: "b", Value: "2"}}, nil, nil},
		{"leading underscore", []spec.StaticVariable{{Key: "x", Value: "${_X9}"}}, all,
			[]worker.Static{{Name: "x", Value: "underscore"}}, []string{"underscore"}, nil},
		{"other spellings are text", []spec.StaticVariable{{Key: "x", Value: "$API_KEY ${lower} ${API_KEY:-d} ${9A} ${}"}}, all,
			[]worker.Static{{Name: "x", Value: "$API_KEY ${lower} ${API_KEY:-d} ${9A} ${}"}}, nil, nil},
		{"white space around is masked either way", []spec.StaticVariable{{Key: "p", Value: "${PADDED}"}}, all,
			[]worker.Static{{Name: "p", Value: " token77\n"}}, []string{" token77\n", "token77"}, nil},
		{"not granted", []spec.StaticVariable{{Key: "k", Value: "${API_KEY}"}}, []string{"HOST"},
			nil, nil, []Missing{{"API_KEY", NotGranted}}},
		{"nothing granted", []spec.StaticVariable{{Key: "k", Value: "${API_KEY}"}}, nil,
			nil, nil, []Missing{{"API_KEY", NotGranted}}},
		{"a star grants nothing", []spec.StaticVariable{{Key: "k", Value: "${API_KEY}"}}, []string{"*"},
			nil, nil, []Missing{{"API_KEY", NotGranted}}},
		{"own variables never", []spec.StaticVariable{{Key: "k", Value: "${TOOLWARRANT_KEY}"}}, all,
			nil, nil, []Missing{{"TOOLWARRANT_KEY", NotGranted}}},
		{"blank, empty, absent", []spec.StaticVariable{{Key: "a", Value: "${BLANK}${EMPTY}${ABSENT}${API_KEY}"}}, all,
			nil, []string{"hunter22", "${BLANK}${EMPTY}${ABSENT}hunter22"},
			[]Missing{{"ABSENT", NotSet}, {"BLANK", NotSet}, {"EMPTY", NotSet}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values, secrets, missing, err := New("", env(vars)).Resolve(tt.statics, tt.granted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.values, values); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.secrets, secrets); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFile(t *testing.T) {
	path := write(t, "# comment\nAPI_KEY: from-file\nYEAR: 2026\nFLAG: true\nBLANK: ''\nNOTHING:\n", 0o600)
	r := New(path, env(map[string]string{"API_KEY": "from-env", "BLANK": "env-blank", "OTHER": "env-other"}))
	got, err := r.Values([]string{"API_KEY", "YEAR", "FLAG", "BLANK", "NOTHING", "OTHER", "TOOLWARRANT_X"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"from-file", "2026", "true", "env-blank", "env-other"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A change is seen by the next call, a replaced file too.
	if err := os.WriteFile(path+".new", []byte(`{"API_KEY": "rotated-value"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Values([]string{"API_KEY"}); err != nil || len(got) != 1 || got[0] != "rotated-value" {
		t.Errorf("after a change: %v, %v", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Values([]string{"API_KEY"}); err != nil || len(got) != 1 || got[0] != "from-env" {
		t.Errorf("without the file: %v, %v", got, err)
	}
}

func TestFileRefused(t *testing.T) {
	tests := []struct {
		name, content, reason string
		mode                  os.FileMode
	}{
		{"world readable", "A: s3cr3tvalue", "secrets-permissions", 0o604},
		{"group readable", "A: s3cr3tvalue", "secrets-permissions", 0o640},
		{"group writable", "A: s3cr3tvalue", "secrets-permissions", 0o620},
		{"list", "- s3cr3tvalue", "secrets-invalid", 0o600},
		{"nested", "A: {B: s3cr3tvalue}", "secrets-invalid", 0o600},
		{"name", "s3cr3tvalue: x", "secrets-invalid", 0o600},
		{"twice", "A: s3cr3tvalue\nA: other", "secrets-invalid", 0o600},
		{"alias", "A: *s3cr3tvalue", "secrets-invalid", 0o600},
		{"syntax", "A: \"s3cr3tvalue", "secrets-invalid", 0o600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.reason == "secrets-permissions" {
				t.Skip("no permission bits")
			}
			r := New(write(t, tt.content, tt.mode), nil)
			_, _, _, err := r.Resolve([]spec.StaticVariable{{Key: "a", Value: "${A}"}}, []string{"A"})
			if !errors.Is(err, fault.New(fault.Usage, tt.reason, "")) {
				t.Fatalf("error %v, want reason %s", err, tt.reason)
			}
			if strings.Contains(err.Error(), "s3cr3tvalue") {
				t.Errorf("the error shows the content: %v", err)
			}
			if r.Check() == nil {
				t.Error("Check() is fine with it")
			}
		})
	}
}

// TestFileFromSystemd: a service can have its secrets from systemd, whose mode
// looks as if a group could read them.
func TestFileFromSystemd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := write(t, "A: value-of-a", 0o440)
	if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	r := New(path, nil)
	if r.Check() == nil {
		t.Error("of no service, and taken")
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(path))
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func FuzzSecretsFile(f *testing.F) {
	f.Add([]byte("A: b\nC: 1\n"))
	f.Add([]byte(`{"A": "x"}`))
	f.Add([]byte("A: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := (&file{path: "s"}).parse(data)
		if (entries == nil) == (err == nil) {
			t.Fatalf("entries %v and error %v", entries, err)
		}
	})
}
