package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/fault"
)

// check verifies bytes as a file.
func check(t testing.TB, log []byte) Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.ndjson")
	must(t, os.WriteFile(path, log, 0o600))
	return verify(t, path)
}

// inspect verifies bytes without a file.
func inspect(t testing.TB, log []byte) Report {
	t.Helper()
	v := newVerifier()
	r := newLineReader(bytes.NewReader(log))
	for n := 1; ; n++ {
		l, err := r.next()
		if err != nil {
			return v.finish(false)
		}
		v.line(n, l)
	}
}

func TestVerifyFine(t *testing.T) {
	r := check(t, sampleLog(t))
	if !r.OK || r.Records != 8 || r.Head == nil || len(r.Findings) != 0 {
		t.Errorf("got %+v", r)
	}
	r = check(t, nil)
	if !r.OK || r.Records != 0 || r.Head != nil {
		t.Errorf("empty log: %+v", r)
	}
}

// TestVerifyEveryFlip alters every byte of a log, in several ways: each is
// found, and the first finding names the line, the last newline included.
func TestVerifyEveryFlip(t *testing.T) {
	log := sampleLog(t)
	line := 1
	for i := range log {
		for j, m := range []byte{0x01, 0x20, 0x80} {
			if testing.Short() && i%7 != 0 || j > 0 && (testing.Short() || (i%5 != j && log[i] != '\n')) {
				continue
			}
			bad := bytes.Clone(log)
			bad[i] ^= m
			r := inspect(t, bad)
			if r.OK {
				t.Fatalf("byte %d ^ %#x was not found", i, m)
			}
			if got := r.Findings[0].Line; got != line {
				t.Fatalf("byte %d ^ %#x of line %d: first finding %+v", i, m, line, r.Findings[0])
			}
		}
		if log[i] == '\n' {
			line++
		}
	}
}

// TestVerifyLines: removal, repetition, insertion, exchange of whole lines.
func TestVerifyLines(t *testing.T) {
	log := sampleLog(t)
	lines := bytes.SplitAfter(bytes.TrimSuffix(log, nil), []byte("\n"))
	lines = lines[:8]
	join := func(l [][]byte) []byte { return bytes.Join(l, nil) }
	wantAt := func(what string, bad []byte, line int) {
		t.Helper()
		r := inspect(t, bad)
		if r.OK || r.Findings[0].Line != line {
			t.Errorf("%s: %+v, want line %d", what, r.Findings, line)
		}
	}
	for i := range lines {
		if i < len(lines)-1 {
			wantAt(fmt.Sprint("remove ", i+1), join(slices.Delete(slices.Clone(lines), i, i+1)), i+1)
			wantAt(fmt.Sprint("merge ", i+1), join(append(append(slices.Clone(lines[:i]), lines[i][:len(lines[i])-1]), lines[i+1:]...)), i+1)
		}
		wantAt(fmt.Sprint("repeat ", i+1), join(slices.Insert(slices.Clone(lines), i, lines[i])), i+2)
		wantAt(fmt.Sprint("insert before ", i+1), join(slices.Insert(slices.Clone(lines), i, []byte("{}\n"))), i+1)
		wantAt(fmt.Sprint("empty line before ", i+1), join(slices.Insert(slices.Clone(lines), i, []byte("\n"))), i+1)
		for j := i + 1; j < len(lines); j++ {
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			wantAt(fmt.Sprintf("swap %d %d", i+1, j+1), join(swapped), i+1)
		}
		// A line with a changed value and a right sum breaks the chain after
		// it; in the last line only a kept head tells.
		if i < len(lines)-1 {
			forged := slices.Clone(lines)
			cut := len(lines[i]) - 1 - sumTail
			body := bytes.Replace(lines[i][:cut], []byte(`"writer":"w1"`), []byte(`"writer":"w2"`), 1)
			forged[i] = append(appendSum(bytes.Clone(body), 0), '\n')
			r := inspect(t, join(forged))
			if r.OK || r.Findings[0].Line != i+2 || r.Findings[0].Kind != KindChain {
				t.Errorf("forge %d: %+v", i+1, r.Findings)
			}
		}
	}
}

// TestVerifyKinds names what happened.
func TestVerifyKinds(t *testing.T) {
	log := string(sampleLog(t))
	lines := strings.SplitAfter(log, "\n")[:8]
	resum := func(line string) string {
		return string(appendSum([]byte(line[:len(line)-1-sumTail]), 0)) + "\n"
	}
	for name, c := range map[string]struct {
		log  string
		want []string // "line kind"
	}{
		"altered":        {strings.Replace(log, "desk", "disk", 1), []string{"1 edited"}},
		"no json":        {strings.Replace(log, `"origin":`, `"origin"!`, 1), []string{"1 edited"}},
		"torn":           {log[:len(log)-10], []string{"8 torn"}},
		"first removed":  {strings.Join(lines[1:], ""), []string{"1 removed"}},
		"inner removed":  {strings.Join(lines[:3], "") + strings.Join(lines[5:], ""), []string{"4 removed"}},
		"other schema":   {strings.Join(lines[:7], "") + resum(strings.Replace(lines[7], "audit/1", "audit/9", 1)), []string{"8 schema"}},
		"other order":    {strings.Join(lines[:7], "") + resum(strings.Replace(lines[7], `{"time"`, `{"a":1,"time"`, 1)), []string{"8 schema"}},
		"twice closed":   {strings.Join(lines[:7], "") + resum(strings.Replace(lines[7], "call-3", "call-1", 1)), []string{"8 duplicate-close"}},
		"bad utf-8":      {strings.Join(lines[:7], "") + resum(strings.Replace(lines[7], "cli-run", "cli-\xffun", 1)), []string{"8 schema"}},
		"two accidents":  {strings.Replace(log, "desk", "disk", 1)[:len(log)-1], []string{"1 edited", "8 torn"}},
		"altered, resum": {strings.Join(lines[:2], "") + resum(strings.Replace(lines[2], "desk", "disk", 1)) + strings.Join(lines[3:], ""), []string{"4 chain"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range check(t, []byte(c.log)).Findings {
				got = append(got, fmt.Sprintf("%d %s", f.Line, f.Kind))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestVerifyCutTail: not found without a head that was kept, and found with.
func TestVerifyCutTail(t *testing.T) {
	log := sampleLog(t)
	whole := check(t, log)
	cut := check(t, log[:bytes.LastIndexByte(log[:len(log)-1], '\n')+1])
	if !cut.OK || *cut.Head == *whole.Head || cut.Records != whole.Records-1 {
		t.Errorf("got %+v", cut)
	}
}

func TestVerifySeveralFiles(t *testing.T) {
	log := sampleLog(t)
	at := bytes.IndexByte(log, '\n') + 1
	at += bytes.IndexByte(log[at:], '\n') + 1
	dir := t.TempDir()
	a, b := filepath.Join(dir, "b.ndjson"), filepath.Join(dir, "a.ndjson")
	must(t, os.WriteFile(a, log[:at], 0o600))
	must(t, os.WriteFile(b, log[at:], 0o600))
	if r := verify(t, b, a); !r.OK || r.Records != 8 {
		t.Errorf("got %+v", r)
	}
	first := verify(t, a)
	if r := verify(t, b); r.OK || r.Findings[0].Kind != KindRemoved {
		t.Errorf("the second file alone: %+v", r)
	}
	r, err := Verify(context.Background(), []string{b}, VerifyOptions{After: &Anchor{Seq: first.Records, Head: *first.Head}})
	must(t, err)
	if !r.OK || r.Records != 6 {
		t.Errorf("with an anchor: %+v", r)
	}
	r, err = Verify(context.Background(), []string{b}, VerifyOptions{After: &Anchor{Seq: first.Records, Head: *r.Head}})
	must(t, err)
	if r.OK || r.Findings[0].Kind != KindChain {
		t.Errorf("with a wrong anchor: %+v", r)
	}
}

// TestVerifyOneFileByTwoNames: a file is read once, however it is named.
func TestVerifyOneFileByTwoNames(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.ndjson"), filepath.Join(dir, "link.ndjson")
	must(t, os.WriteFile(file, sampleLog(t), 0o600))
	want := wantOK(t, file).Records
	t.Chdir(dir)
	names := []string{file, "a.ndjson", "./a.ndjson"}
	if os.Symlink(file, link) == nil { // not every system lets everybody
		names = append(names, link)
	}
	if got := wantOK(t, names...).Records; got != want {
		t.Errorf("%d records, want %d", got, want)
	}
}

func TestVerifyUnreadable(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		_, err := Verify(context.Background(), []string{path}, VerifyOptions{})
		if f := fault.From(err); f == nil || f.Code.Exit() != fault.ExitUsage {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestVerifyLongLine(t *testing.T) {
	log := append(bytes.Repeat([]byte("x"), 3*maxLine), '\n')
	r := check(t, append(log, sampleLog(t)...))
	if r.OK || r.Findings[0].Line != 1 || r.Findings[0].Kind != KindInserted || r.Records != 9 {
		t.Errorf("got %+v", r)
	}
}

func TestVerifyManyFindings(t *testing.T) {
	r := check(t, bytes.Repeat([]byte("x\n"), 3*maxFindings))
	if r.OK || len(r.Findings) != maxFindings || !r.Truncated {
		t.Errorf("%d findings, truncated %v", len(r.Findings), r.Truncated)
	}
}

func FuzzVerify(f *testing.F) {
	log := sampleLog(f)
	f.Add(log)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := inspect(t, b)
		if r.OK && len(b) > 0 && bytes.HasPrefix(log, []byte("{")) && r.Records == 8 && !bytes.Equal(b[:min(len(b), len(log))], log) {
			// A whole chain of its own is possible, a wrong one is not.
			if h, ok := parseHead(b[:bytes.IndexByte(b, '\n')]); !ok || h.Seq != 1 {
				t.Fatal("accepted what is no chain")
			}
		}
	})
}

func FuzzParseHead(f *testing.F) {
	line, _, _ := bytes.Cut(sampleLog(f), []byte("\n"))
	f.Add(line)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := parseHead(b)
		if ok && (h.Seq == 0 || h.Time == "" || h.Phase == "") {
			t.Fatalf("accepted %+v", h)
		}
	})
}
