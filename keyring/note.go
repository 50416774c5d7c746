package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/fault"
)

// GenerateNoteKey makes an Ed25519 key under name, such as
// "acme.example/audit", for signed notes (golang.org/x/mod/sumdb/note): the
// private one into path, with mode 0600, the public one, which may be known to
// everybody, into path + ".pub". A file that exists is never replaced.
// It returns the public key as text. The error is USAGE, reason "key-name",
// "key-exists" or "key-unwritable".
func GenerateNoteKey(path, name string) (public string, err error) {
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err == nil {
		_, err = note.NewVerifier(public) // which refuses names that the maker lets pass
	}
	if err != nil {
		return "", fault.New(fault.Usage, "key-name", "%q cannot name a key; take a name without spaces and plus signs, such as acme.example/audit", name)
	}
	for _, f := range []struct {
		path, text string
		mode       os.FileMode
	}{{path, private, 0o600}, {path + ".pub", public, 0o644}} {
		if err := create(f.path, f.text+"\n", f.mode); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return "", fault.New(fault.Usage, "key-exists", "%s exists and is not replaced; choose another file", f.path)
			}
			return "", fault.New(fault.Usage, "key-unwritable", "the key %s cannot be written", f.path).Because(err)
		}
	}
	return public, nil
}

func create(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// ReadNoteSigner reads the private key of signed notes from a file that its
// owner alone can read. The errors are those of ReadSigningKey.
func ReadNoteSigner(path string) (note.Signer, error) {
	text, err := readKeyFile(path, 0o077, "others can read it; run: chmod 600 "+path)
	if err != nil {
		return nil, err
	}
	s, err := note.NewSigner(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, badKey(path, "is no private key of signed notes; toolwarrant audit keygen makes one").Because(err)
	}
	return s, nil
}

// ReadNoteVerifier reads the public key of signed notes from a file that
// nobody but its owner can change.
func ReadNoteVerifier(path string) (note.Verifier, error) {
	text, err := readKeyFile(path, 0o022, "others can replace it; run: chmod go-w "+path)
	if err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, badKey(path, "is no public key of signed notes; toolwarrant audit keygen makes one").Because(err)
	}
	return v, nil
}

// NoteVerifier gives the public key that belongs to the private one in a file,
// so that who signs can check what it signed before.
func NoteVerifier(path string) (note.Verifier, error) {
	s, err := ReadNoteSigner(path)
	if err != nil {
		return nil, err
	}
	text, err := readKeyFile(path, 0o077, "others can read it; run: chmod 600 "+path)
	if err != nil {
		return nil, err
	}
	// PRIVATE+KEY+name+hash+key; the base64 of the key may have a plus itself.
	parts := strings.SplitN(strings.TrimSpace(string(text)), "+", 5)
	key, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(key) != 1+ed25519.SeedSize {
		return nil, badKey(path, "is no private key of signed notes; toolwarrant audit keygen makes one").Because(err)
	}
	public := ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey)
	vkey, err := note.NewEd25519VerifierKey(s.Name(), public)
	if err != nil {
		return nil, badKey(path, "has no public key").Because(err)
	}
	return note.NewVerifier(vkey)
}
