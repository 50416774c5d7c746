package apikey

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/schemas"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T) (*Store, *clock, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	c := &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 5, time.UTC)}
	return Open(dir, c.Now), c, filepath.Join(dir, FileName)
}

func recorded(Entry) error { return nil }

func create(t *testing.T, s *Store, w Wanted) (string, Entry) {
	t.Helper()
	token, e, err := s.Create(w, recorded)
	if err != nil {
		t.Fatal(err)
	}
	return token, e
}

func TestLifeOfAKey(t *testing.T) {
	s, c, file := open(t)
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	token, e := create(t, s, Wanted{Name: "ci", Groups: []string{"a", "b"}, Scopes: []string{"x"}, Expires: time.Hour})
	other, _ := create(t, s, Wanted{Name: "other", Subject: "somebody"})
	if len(token) != tokLen || !strings.HasPrefix(token, "tw_"+e.ID+"_") {
		t.Errorf("token %q of %s", token, e.ID)
	}
	got, err := s.Check(token)
	if err != nil || got.Subject != "ci" || strings.Join(got.Groups, ",") != "a,b" || got.ClientID() != "tw_"+e.ID {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tok := range []string{token, other} {
		if secret := tok[len(Prefix)+idLen+1:]; strings.Contains(string(text), secret) || strings.Contains(string(text), secret[:20]) {
			t.Error("the file has a secret")
		}
	}
	if st, _ := os.Stat(file); runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	c.add(time.Hour - time.Second)
	if _, err := s.Check(token); err != nil {
		t.Errorf("before its end: %v", err)
	}
	c.add(time.Second)
	if _, err := s.Check(token); !errors.Is(err, Expired) {
		t.Errorf("at its end: %v", err)
	}
	if _, err := s.Revoke("other", recorded); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(other); !errors.Is(err, Revoked) {
		t.Errorf("revoked: %v", err)
	}
	list, err := s.List()
	if err != nil || len(list) != 2 || list[0].State(c.Now()) != "expired" || list[1].State(c.Now()) != "revoked" {
		t.Errorf("%+v, %v", list, err)
	}
	// Its name is free again.
	create(t, s, Wanted{Name: "other"})
}

// TestTokens: nothing but the token itself is taken for it.
func TestTokens(t *testing.T) {
	s, _, _ := open(t)
	token, e := create(t, s, Wanted{Name: "ci"})
	stranger := newToken()
	imposter := newToken()
	imposter.id = e.ID
	last := token[len(token)-1:]
	for name, tc := range map[string]struct {
		token string
		want  Refused
	}{
		"nothing":            {"", Malformed},
		"prefix":             {"tw_", Malformed},
		"upper case":         {strings.ToUpper(token), Malformed},
		"one letter changed": {token[:40] + flip(token[40:41]) + token[41:], Malformed},
		"last letter":        {token[:len(token)-1] + flip(last), Malformed},
		"too long":           {token + "a", Malformed},
		"too short":          {token[:len(token)-1], Malformed},
		"padded":             {token + "=", Malformed},
		"white space":        {" " + token, Malformed},
		"another id":         {stranger.String(), Unknown},
		"another secret":     {imposter.String(), Mismatch},
		"nul":                {strings.Replace(token, "_", "\x00", 2), Malformed},
	} {
		if _, err := s.Check(tc.token); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

func flip(s string) string {
	if s == "a" {
		return "b"
	}
	return "a"
}

// TestEditsMakeNoKeyStronger: what a key stands for is bound to its secret.
func TestEditsMakeNoKeyStronger(t *testing.T) {
	for name, edit := range map[string]func(*Entry){
		"groups":  func(e *Entry) { e.Groups = append(e.Groups, "admin") },
		"scopes":  func(e *Entry) { e.Scopes = []string{"all"} },
		"subject": func(e *Entry) { e.Subject = "root" },
		"name":    func(e *Entry) { e.Name = "root" },
		"expiry":  func(e *Entry) { e.ExpiresAt = nil },
		"begin":   func(e *Entry) { e.CreatedAt = e.CreatedAt.Add(time.Hour) },
		"tag":     func(e *Entry) { e.Tag = tagPrefix + strings.Repeat("0", 64) },
	} {
		s, _, file := open(t)
		token, _ := create(t, s, Wanted{Name: "ci", Groups: []string{"a"}, Expires: time.Hour})
		edited(t, file, func(d *document) { edit(&d.Keys[0]) })
		if _, err := s.Check(token); !errors.Is(err, Mismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, _, file := open(t)
	token, _ := create(t, s, Wanted{Name: "ci"})
	edited(t, file, func(*document) {})
	if _, err := s.Check(token); err != nil {
		t.Errorf("no edit: %v", err)
	}
}

func edited(t *testing.T, file string, edit func(*document)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parse(file, b)
	if err != nil {
		t.Fatal(err)
	}
	edit(&doc)
	if b, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	write(t, file, b)
}

// write replaces the file as a person does, in place.
func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Duration(len(b)) * time.Second) // file systems with coarse clocks
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestUnusableFiles: nobody is known while the keys cannot be read, and
// nothing replaces them.
func TestUnusableFiles(t *testing.T) {
	good := `{"version":1,"keys":[{"id":"aaaaaaaaaaaaaaaa","name":"n","subject":"s","groups":[],"scopes":[],"createdAt":"2026-01-01T00:00:00Z","expiresAt":null,"revokedAt":null,"tag":"hmac-sha256:` + strings.Repeat("0", 64) + `"}]}`
	for name, text := range map[string]string{
		"empty":           "",
		"no JSON":         "tw_",
		"no version":      `{"keys":[]}`,
		"newer":           `{"version":2,"keys":[]}`,
		"unknown member":  strings.Replace(good, `"keys"`, `"more":1,"keys"`, 1),
		"twice a member":  strings.Replace(good, `"name":"n"`, `"name":"n","name":"m"`, 1),
		"bad id":          strings.Replace(good, "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaa1", 1),
		"bad tag":         strings.Replace(good, "hmac-sha256:0", "hmac-sha256:x", 1),
		"bad name":        strings.Replace(good, `"n"`, `"n n"`, 1),
		"control":         strings.Replace(good, `"s"`, `"s\u0007"`, 1),
		"bidi":            strings.Replace(good, `"s"`, `"s\u202e"`, 1),
		"no groups":       strings.Replace(good, `"groups":[]`, `"groups":null`, 1),
		"not UTC":         strings.Replace(good, "00:00:00Z", "00:00:00+01:00", 1),
		"the same twice":  strings.Replace(good, "]}", ","+good[strings.Index(good, "[")+1:], 1),
		"something after": good + "x",
	} {
		s, _, file := open(t)
		token, _ := create(t, s, Wanted{Name: "ci"})
		write(t, file, []byte(text))
		var refused Refused
		if _, err := s.Check(token); err == nil || errors.As(err, &refused) || fault.From(err).Reason != "api-keys" {
			t.Errorf("%s: Check: %v", name, err)
		}
		if _, _, err := s.Create(Wanted{Name: "next"}, recorded); err == nil {
			t.Errorf("%s: a key was made", name)
		}
		if b, _ := os.ReadFile(file); string(b) != text {
			t.Errorf("%s: the file was replaced", name)
		}
	}
	s, _, file := open(t)
	create(t, s, Wanted{Name: "ci"})
	write(t, file, []byte(good))
	if list, err := s.List(); err != nil || len(list) != 1 {
		t.Errorf("the good one: %v, %v", list, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file for all to read: %v", err)
	}
}

// TestHot: what another process does counts at once.
func TestHot(t *testing.T) {
	a, c, file := open(t)
	b := Open(filepath.Dir(file), c.Now)
	if _, err := b.List(); err != nil {
		t.Fatal(err)
	}
	token, e := create(t, a, Wanted{Name: "ci"})
	if _, err := b.Check(token); err != nil {
		t.Errorf("made elsewhere: %v", err)
	}
	if _, err := a.Revoke(e.ID, recorded); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Check(token); !errors.Is(err, Revoked) {
		t.Errorf("revoked elsewhere: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Check(token); !errors.Is(err, Unknown) {
		t.Errorf("without a file: %v", err)
	}
}

// TestNothingWithoutItsRecord: an act that cannot be recorded does not happen.
func TestNothingWithoutItsRecord(t *testing.T) {
	s, _, _ := open(t)
	full := fault.New(fault.AuditUnavailable, "full", "the disk is full")
	fails := func(Entry) error { return full }
	if token, _, err := s.Create(Wanted{Name: "ci"}, fails); !errors.Is(err, full) || token != "" {
		t.Errorf("create: %q, %v", token, err)
	}
	if list, _ := s.List(); len(list) != 0 {
		t.Error("a key was made")
	}
	token, e := create(t, s, Wanted{Name: "ci"})
	if _, err := s.Revoke(e.ID, fails); !errors.Is(err, full) {
		t.Errorf("revoke: %v", err)
	}
	if _, err := s.Check(token); err != nil {
		t.Errorf("revoked without a record: %v", err)
	}
}

func TestWrongWishes(t *testing.T) {
	s, _, _ := open(t)
	create(t, s, Wanted{Name: "taken"})
	for name, w := range map[string]Wanted{
		"no name":       {},
		"spaces":        {Name: "a b"},
		"long name":     {Name: strings.Repeat("a", 65)},
		"control":       {Name: "a", Subject: "x\ny"},
		"invisible":     {Name: "a", Subject: "x\u200by"},
		"spaces around": {Name: "a", Subject: " x"},
		"empty group":   {Name: "a", Groups: []string{""}},
		"a group twice": {Name: "a", Groups: []string{"g", "g"}},
		"scope":         {Name: "a", Scopes: []string{"a b"}},
		"many":          {Name: "a", Groups: make([]string, 65)},
		"negative":      {Name: "a", Expires: -time.Hour},
		"short":         {Name: "a", Expires: time.Millisecond},
		"taken":         {Name: "taken"},
	} {
		if _, _, err := s.Create(w, recorded); err == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Revoke("nobody", recorded); fault.From(err).Reason != "api-key-unknown" {
		t.Errorf("%v", err)
	}
}

// TestManyAtOnce: no key is lost when several make some, and both checks and
// changes may run at any time.
func TestManyAtOnce(t *testing.T) {
	a, c, file := open(t)
	b := Open(filepath.Dir(file), c.Now)
	var wg sync.WaitGroup
	const each = 8
	for i, s := range []*Store{a, b} {
		for j := range each {
			wg.Go(func() {
				token, _, err := s.Create(Wanted{Name: string(rune('a'+i)) + string(rune('a'+j))}, recorded)
				if err != nil {
					t.Error(err)
				} else if _, err := b.Check(token); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if list, err := a.List(); err != nil || len(list) != 2*each {
		t.Errorf("%d keys, %v", len(list), err)
	}
}

// TestSchema: what is written is what cue/apikeys.cue describes.
func TestSchema(t *testing.T) {
	s, _, file := open(t)
	_, e := create(t, s, Wanted{Name: "ci", Groups: []string{"a"}, Expires: time.Hour})
	create(t, s, Wanted{Name: "other"})
	if _, err := s.Revoke(e.ID, recorded); err != nil {
		t.Fatal(err)
	}
	text, err := schemas.FS.ReadFile("api-keys.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("keys", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("keys")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
	if err := schema.Validate(map[string]any{"version": 1, "keys": []any{}, "more": 1}); err == nil {
		t.Error("the schema is not closed")
	}
}

func FuzzToken(f *testing.F) {
	f.Add("tw_")
	f.Add(newToken().String())
	f.Fuzz(func(t *testing.T, s string) {
		if tok, ok := parseToken(s); ok && tok.String() != s {
			t.Errorf("%q is read as %q", s, tok.String())
		}
	})
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":[]}`))
	f.Add([]byte(`{"version":1,"keys":[{"id":"aaaaaaaaaaaaaaaa","name":"n","subject":"s","groups":[],"scopes":[],"createdAt":"2026-01-01T00:00:00Z","expiresAt":null,"revokedAt":null,"tag":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := parse("f", b)
		if err != nil {
			return
		}
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse("f", again); err != nil {
			t.Errorf("what was read cannot be read again: %v", err)
		}
	})
}
