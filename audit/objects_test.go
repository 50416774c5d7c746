package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyObjects alters and removes objects: each is found at the record that
// entered it, and only where the objects stand beside the log.
func TestVerifyObjects(t *testing.T) {
	whole := t.TempDir()
	w := mustOpen(t, whole, Options{})
	var digests []string
	for i, content := range []string{`{}`, `{"a":1}`} {
		closes(t, w, fmt.Sprint("before-", i))
		digests = append(digests, digestOf([]byte(content)))
		must(t, w.Object(context.Background(), Object{Kind: "spec", Digest: digests[len(digests)-1], Content: json.RawMessage(content)}))
	}
	must(t, w.Shutdown(context.Background()))
	file := func(dir string, i int) string {
		return filepath.Join(dir, objectsDir, strings.TrimPrefix(digests[i], hashPrefix))
	}
	for name, c := range map[string]struct {
		harm func(dir string)
		line int
		text string
	}{
		"nothing": {func(string) {}, 0, ""},
		"altered": {func(dir string) { must(t, os.WriteFile(file(dir, 1), []byte(`{"a":2}`), 0o600)) }, 4, "altered"},
		"emptied": {func(dir string) { must(t, os.WriteFile(file(dir, 0), nil, 0o600)) }, 2, "altered"},
		"removed": {func(dir string) { must(t, os.Remove(file(dir, 0))) }, 2, "gone"},
		"a folder": {func(dir string) {
			must(t, os.Remove(file(dir, 0)))
			must(t, os.Mkdir(file(dir, 0), 0o700))
		}, 2, "altered"},
		"a file of no record": {func(dir string) {
			must(t, os.WriteFile(filepath.Join(dir, objectsDir, strings.Repeat("ab", 32)), nil, 0o600))
		}, 1, "altered"},
		"what is no object": {func(dir string) { must(t, os.WriteFile(filepath.Join(dir, objectsDir, "x.tmp"), nil, 0o600)) }, 0, ""},
		"no objects":        {func(dir string) { must(t, os.RemoveAll(filepath.Join(dir, objectsDir))) }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyTree(t, whole, true)
			c.harm(dir)
			r, err := Verify(t.Context(), []string{logPath(dir)}, VerifyOptions{Objects: true})
			must(t, err)
			if c.line == 0 != r.OK || !r.OK && (len(r.Findings) != 1 || r.Findings[0].Kind != KindObject || r.Findings[0].Line != c.line || !strings.Contains(r.Findings[0].Message, c.text)) {
				t.Errorf("%+v", r)
			}
			wantOK(t, logPath(dir)) // which nobody asked for
		})
	}
}

// TestVerifyCopy: a copy may have records twice, and has to be whole otherwise.
func TestVerifyCopy(t *testing.T) {
	lines := chainOf(t, "w1", 30)
	at := func(from, to int) []byte { return bytes.Join(lines[from-1:to], nil) }
	edited := bytes.Replace(lines[9], []byte("w1"), []byte("w3"), 1)
	for name, c := range map[string]struct {
		log     []byte
		repeats uint64
		kind    string
	}{
		"as the log":             {at(1, 30), 0, ""},
		"twice, inside":          {bytes.Join([][]byte{at(1, 20), at(11, 20), at(21, 30)}, nil), 10, ""},
		"twice, at the end":      {bytes.Join([][]byte{at(1, 30), at(26, 28)}, nil), 3, ""},
		"three times":            {bytes.Join([][]byte{at(1, 20), at(20, 20), at(20, 20), at(21, 30)}, nil), 2, ""},
		"twice, one edited":      {bytes.Join([][]byte{at(1, 20), edited, at(21, 30)}, nil), 0, KindInserted},
		"twice, and a line gone": {bytes.Join([][]byte{at(1, 20), at(20, 20), at(22, 30)}, nil), 1, KindRemoved},
		"before its place":       {bytes.Join([][]byte{at(1, 9), at(20, 20), at(10, 30)}, nil), 0, KindRepeated},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "copy.ndjson")
			must(t, os.WriteFile(path, c.log, 0o600))
			r, err := Verify(t.Context(), []string{path}, VerifyOptions{Copy: true})
			must(t, err)
			if r.Repeats != c.repeats || r.OK != (c.kind == "") || !r.OK && (len(r.Findings) != 1 || r.Findings[0].Kind != c.kind) {
				t.Errorf("%+v", r)
			}
			whole := check(t, at(1, 30))
			if r.OK && (r.Records != 30 || *r.Head != *whole.Head) {
				t.Errorf("%d records, head %s", r.Records, *r.Head)
			}
			if plain := verify(t, path); c.repeats > 0 && (plain.OK || plain.Findings[0].Kind != KindRepeated) {
				t.Errorf("as a log: %+v", plain.Findings)
			}
		})
	}
}

// TestObjectsOfEachLog has a home go on with another log, and back: each log
// names the objects of its calls, once.
func TestObjectsOfEachLog(t *testing.T) {
	dir := t.TempDir()
	content := json.RawMessage(`{"a":1}`)
	o := Object{Kind: "policy", Digest: digestOf(content), Content: content}
	other := filepath.Join(t.TempDir(), "other.ndjson")
	for _, file := range []string{"", other, "", other} {
		w := mustOpen(t, dir, Options{File: file})
		must(t, w.Object(t.Context(), o))
		must(t, w.Shutdown(context.Background()))
	}
	for _, log := range []string{logPath(dir), other} {
		if got := bytes.Count(readFile(t, log), []byte(o.Digest)); got != 1 {
			t.Errorf("%s names the object %d times, want once", log, got)
		}
		wantOK(t, log)
	}
}
