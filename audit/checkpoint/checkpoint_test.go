package checkpoint

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/toolwarrant/toolwarrant/fault"
)

func keys(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme.example/audit")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := note.NewSigner(private)
	v, _ := note.NewVerifier(public)
	return s, v
}

func sample(size int64) Checkpoint {
	sum := sha256.Sum256([]byte(fmt.Sprint(size)))
	c := Checkpoint{Size: size, Root: tlog.Hash(sum), Time: time.Date(2026, 11, 28, 10, 0, 0, 120000, time.UTC)}
	if size > 0 {
		c.Head = fmt.Sprintf("sha256:%x", sum)
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	signer, verifier := keys(t)
	_, stranger := keys(t)
	var file strings.Builder
	for size := range int64(4) {
		msg, err := Sign(sample(size), signer)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(msg)
		want := sample(size)
		want.Origin = signer.Name()
		if got, err := Open(msg, verifier); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if _, err := Open(msg, stranger); fault.From(err).Reason != ReasonSignature {
			t.Errorf("of another key: %v", err)
		}
		for i := range msg { // every byte of the text and of the signature counts
			altered := append([]byte(nil), msg...)
			altered[i] ^= 1
			if i == len(msg)-len("A=\n") {
				continue // the last digit of the signature has bits that say nothing
			}
			if _, err := Open(altered, verifier); err == nil {
				t.Errorf("byte %d of %q may change", i, msg)
			}
		}
	}
	all := file.String()
	list, skipped, err := OpenAll(strings.NewReader(all), verifier)
	if err != nil || len(list) != 4 || skipped.Count > 0 {
		t.Fatalf("%d of 4 checkpoints, %+v, %v", len(list), skipped, err)
	}
	joined := ""
	for _, s := range list {
		joined += s.Note
	}
	if joined != all {
		t.Error("the notes are not those of the file")
	}
	for _, bad := range []string{"x", "\u2014 ", strings.Repeat("x", 1<<20), list[3].Note[1:], strings.Replace(list[3].Note, "\n3\n", "\n4\n", 1)} {
		if got, _, err := OpenAll(strings.NewReader(bad), verifier); err == nil || fault.From(err).Code != fault.Usage {
			t.Errorf("%.40q opens: %v, %v", bad, got, err)
		}
	}
}

// TestSignedButNoCheckpoint opens what the right key signed and is something
// else.
func TestSignedButNoCheckpoint(t *testing.T) {
	signer, verifier := keys(t)
	good := sample(3)
	good.Origin = signer.Name()
	text := good.text()
	for name, other := range map[string]string{
		"another text":     "hello\n",
		"a line more":      text + "more\n",
		"a number spelled": strings.Replace(text, "\n3\n", "\n03\n", 1),
		"a negative size":  strings.Replace(text, "\n3\n", "\n-3\n", 1),
		"no head":          strings.Replace(text, good.Head, "", 1),
		"a head of none":   strings.Replace(text, "\n3\n", "\n0\n", 1),
		"another time":     strings.Replace(text, "Z\n", "+00:00\n", 1),
		"another log":      strings.Replace(text, "acme", "acmo", 1),
	} {
		msg, err := note.Sign(&note.Note{Text: other}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(msg, verifier); err == nil {
			t.Errorf("%s: opens", name)
		}
	}
}

// TestProofMembers: a proof has its members once, and no others.
func TestProofMembers(t *testing.T) {
	signer, verifier := keys(t)
	record := `{"a":1}`
	var tree Tree
	tree.Append(tlog.RecordHash([]byte(record)))
	msg, err := Sign(Checkpoint{Size: 1, Root: tree.Root(), Head: "sha256:x", Time: time.Unix(0, 0)}, signer)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Proof{Record: record, Checkpoint: string(msg), Path: []tlog.Hash{}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(doc)
	_, other := keys(t)
	for name, c := range map[string]struct {
		doc    string
		key    note.Verifier
		reason string
	}{
		"as it is":          {good, verifier, ""},
		"another member":    {strings.Replace(good, "{", `{"note":"x",`, 1), verifier, ReasonFormat},
		"a member twice":    {strings.Replace(good, "{", `{"index":0,`, 1), verifier, ReasonFormat},
		"a record twice":    {strings.Replace(good, "{", `{"record":"x",`, 1), verifier, ReasonFormat},
		"in capitals":       {strings.Replace(good, `"record"`, `"Record"`, 1), verifier, ReasonFormat},
		"two documents":     {good + good, verifier, ReasonFormat},
		"another record":    {strings.Replace(good, `\"a\"`, `\"b\"`, 1), verifier, ReasonProof},
		"another key":       {good, other, ReasonSignature},
		"no signed note":    {strings.Replace(good, "\u2014", "-", 1), verifier, ReasonFormat},
		"an altered number": {strings.Replace(good, `\n1\n`, `\n2\n`, 1), verifier, ReasonSignature},
	} {
		_, _, err := OpenProof([]byte(c.doc), c.key)
		if f := fault.From(err); err == nil && c.reason != "" || err != nil && (f.Code != fault.Usage || f.Reason != c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpenProof gives a reader what somebody wrote: it never panics, and
// nothing is proven that was not signed.
func FuzzOpenProof(f *testing.F) {
	signer, verifier := keys(f)
	record := `{"a":1}`
	var tree Tree
	tree.Append(tlog.RecordHash([]byte(record)))
	msg, _ := Sign(Checkpoint{Size: 1, Root: tree.Root(), Head: "sha256:x", Time: time.Unix(0, 0)}, signer)
	doc, _ := Proof{Record: record, Checkpoint: string(msg), Path: []tlog.Hash{}}.Encode()
	if _, _, err := OpenProof(doc, verifier); err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add([]byte(`{"schema":"toolwarrant.proof/1","record":"","index":-1,"path":null,"checkpoint":""}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if p, _, err := OpenProof(doc, verifier); err == nil && p.Record != record {
			t.Errorf("%q is proven", p.Record)
		}
		_, _, _ = OpenAll(strings.NewReader(string(doc)), verifier)
	})
}
