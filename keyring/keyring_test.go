package keyring

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolwarrant/toolwarrant/fault"
)

const childEnv = "KEYRING_TEST_CHILD"

// TestMain lets the test binary be a second process: it opens the keyring it
// is told, once its standard input closes, and prints the current key.
func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	f, err := Open(dir)
	if err == nil {
		var k Key
		if k, err = f.Current(ParamsDigest); err == nil {
			fmt.Println(k.ID, hex.EncodeToString(k.Bytes))
			return
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantUnusable(t *testing.T, err error, text string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Internal || f.Reason != "keyring" || f.Code.Exit() != fault.ExitSystem || !strings.Contains(f.Message, text) {
		t.Fatalf("got %v, want an INTERNAL (keyring) error with %q", err, text)
	}
}

func TestOpenMakesOneKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "keys")
	a, err := Open(dir)
	must(t, err)
	b, err := Open(dir)
	must(t, err)
	ka, err := a.Current(RequestState)
	must(t, err)
	kb, err := b.Current(RequestState)
	must(t, err)
	if ka.ID != kb.ID || string(ka.Bytes) != string(kb.Bytes) || len(ka.Bytes) != 32 || len(ka.ID) != 16 {
		t.Errorf("%v, %v", ka, kb)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, FileName): 0o600} {
			st, err := os.Stat(path)
			must(t, err)
			if st.Mode().Perm() != want {
				t.Errorf("%s has mode %o", path, st.Mode().Perm())
			}
		}
	}
}

func TestPurposesAreApart(t *testing.T) {
	f, err := Open(t.TempDir())
	must(t, err)
	seen := map[string]Purpose{}
	for _, p := range []Purpose{ParamsDigest, RequestState, ParamValue, ApprovalContent} {
		k, err := f.Current(p)
		must(t, err)
		if q, ok := seen[string(k.Bytes)]; ok {
			t.Errorf("%s and %s share a key", p, q)
		}
		seen[string(k.Bytes)] = p
	}
	for _, p := range []Purpose{"", idInfo} {
		if _, err := f.Current(p); err == nil {
			t.Errorf("a key for purpose %q", p)
		}
	}
}

// TestVector fixes the derivation: what was made with a key has to be
// checkable by later versions.
func TestVector(t *testing.T) {
	m, err := newMaster([]byte("0123456789abcdef0123456789abcdef"))
	must(t, err)
	k, err := m.derive(ParamsDigest)
	must(t, err)
	const id, key = "08ff139aa46bb0a8", "520d33ae6682f5bb2ef5d5a9302b1ea5e7faa15c692ee4f15491db29ec08cf3c"
	if k.ID != id || hex.EncodeToString(k.Bytes) != key {
		t.Errorf("%s %x", k.ID, k.Bytes)
	}
}

func TestRotate(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	must(t, err)
	other, err := Open(dir) // as another process has it open
	must(t, err)
	first, err := other.Current(RequestState)
	must(t, err)
	id, err := f.Rotate(nil)
	must(t, err)
	for _, r := range []*File{f, other} {
		k, err := r.Current(RequestState)
		must(t, err)
		if k.ID != id || k.ID == first.ID {
			t.Errorf("current is %s, want %s", k.ID, id)
		}
		old, ok, err := r.Lookup(RequestState, first.ID)
		must(t, err)
		if !ok || string(old.Bytes) != string(first.Bytes) {
			t.Error("the previous key is lost")
		}
	}
	_, err = other.Rotate(nil)
	must(t, err)
	if _, ok, err := f.Lookup(RequestState, first.ID); ok || err != nil {
		t.Errorf("a dropped key is still there: %v", err)
	}
	if _, ok, _ := f.Lookup(RequestState, "nonsense"); ok {
		t.Error("found an unknown key")
	}
	var doc document
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	must(t, json.Unmarshal(b, &doc))
	if len(doc.Keys) != 2 {
		t.Errorf("%d keys are kept", len(doc.Keys))
	}
}

// TestProcessesAgree starts processes that all find no keyring.
func TestProcessesAgree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	const n = 6
	outs := make([]string, n)
	var ready, wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+dir)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Error(err)
			}
			var out strings.Builder
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			ready.Done()
			<-start
			_, _ = in.Write([]byte("go\n"))
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, out.String())
			}
			outs[i] = out.String()
		})
	}
	ready.Wait()
	close(start)
	wg.Wait()
	for _, out := range outs {
		if out != outs[0] || out == "" {
			t.Fatalf("processes have different keys: %q", outs)
		}
	}
}

func TestRefused(t *testing.T) {
	good := t.TempDir()
	_, err := Open(good)
	must(t, err)
	b, err := os.ReadFile(filepath.Join(good, FileName))
	must(t, err)
	for name, c := range map[string]struct {
		content string
		text    string
	}{
		"empty":           {"", "damaged"},
		"cut":             {string(b[:len(b)/2]), "damaged"},
		"not json":        {"hello", "damaged"},
		"list":            {"[]", "damaged"},
		"newer":           {strings.Replace(string(b), `"version": 1`, `"version": 2`, 1), "newer"},
		"version 0":       {strings.Replace(string(b), `"version": 1`, `"version": 0`, 1), "damaged"},
		"unknown field":   {strings.Replace(string(b), `"version": 1`, `"version": 1, "x": 1`, 1), "damaged"},
		"unknown current": {strings.Replace(string(b), `"current": "`, `"current": "0`, 1), "damaged"},
		"no keys":         {`{"version":1,"keys":[],"current":"","previous":null}`, "damaged"},
		"other secret":    {strings.Replace(string(b), `"secret": "`, `"secret": "AAAA`, 1), "damaged"},
		"too long":        {string(b) + strings.Repeat(" ", maxFile), "cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			must(t, os.WriteFile(path, []byte(c.content), 0o600))
			_, err := Open(dir)
			wantUnusable(t, err, c.text)
			if after, _ := os.ReadFile(path); string(after) != c.content {
				t.Error("the file was changed")
			}
		})
	}
}

func TestRefusesWhatOthersCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := t.TempDir()
	f, err := Open(dir)
	must(t, err)
	path := filepath.Join(dir, FileName)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o666} {
		must(t, os.Chmod(path, mode))
		_, err := Open(dir)
		wantUnusable(t, err, "chmod 600")
		_, err = f.Current(ParamsDigest)
		wantUnusable(t, err, "chmod 600")
	}
	must(t, os.Chmod(path, 0o600))
	must(t, os.Chmod(dir, 0o777))
	_, err = Open(dir)
	wantUnusable(t, err, "chmod 700")
	must(t, os.Chmod(dir, 0o700))
	_, err = f.Current(ParamsDigest)
	must(t, err)
}

// TestGone: a keyring that vanishes under a running process fails, it is not
// made anew.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, FileName)))
	_, err = f.Current(ParamsDigest)
	wantUnusable(t, err, "cannot read")
	_, err = f.Rotate(nil)
	wantUnusable(t, err, "keyring")
	must(t, os.Mkdir(filepath.Join(dir, FileName), 0o700))
	_, err = Open(dir)
	wantUnusable(t, err, "cannot read")
}

func TestConcurrentUse(t *testing.T) {
	f, err := Open(t.TempDir())
	must(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				if i == 0 {
					if _, err := f.Rotate(nil); err != nil {
						t.Error(err)
					}
				}
				if k, err := f.Current(ParamsDigest); err != nil || len(k.Bytes) != 32 {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":[],"current":"","previous":null}`))
	f.Add([]byte(`{"version":99}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, r, err := parse("x", b)
		if err == nil && len(r.current.secret) != keyBytes {
			t.Fatal("accepted a keyring without a key")
		}
	})
}

func BenchmarkCurrent(b *testing.B) {
	f, err := Open(b.TempDir())
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Current(ParamsDigest); err != nil {
			b.Fatal(err)
		}
	}
}
