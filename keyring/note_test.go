package keyring

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// TestNoteVerifier: the public key of a private one opens what that one signed.
func TestNoteVerifier(t *testing.T) {
	for range 20 { // the text of some has a plus
		path := filepath.Join(t.TempDir(), "key")
		public, err := GenerateNoteKey(path, "acme.example/audit")
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ReadNoteSigner(path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := NoteVerifier(path)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := note.Sign(&note.Note{Text: "hello\n"}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := note.Open(msg, note.VerifierList(v)); err != nil {
			t.Errorf("%s: %v", public, err)
		}
	}
	if _, err := NoteVerifier(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("got %v", err)
	}
}
