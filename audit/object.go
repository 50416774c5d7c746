package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// maxObject bounds one artefact.
const maxObject = 64 << 20

// objectsDir is the folder of the objects, in that of the log of a home.
const objectsDir = "objects"

// loggedExt marks an object whose line is in the chain; the file holds the
// seq of that line. It lies with what goes with the log: a home whose log is
// another one from now on enters its objects there once more.
const loggedExt = ".seq"

// Object enters an artefact: its content at objects/<hex of the digest>, and
// then, synced, its line. An artefact that is in the chain already, by
// whichever process, is not entered again: the mark that says so is looked
// for, and made, under the lock of the log. Only a crash or a failing disk in
// the moment between line and mark can make a second line, of another
// process. The digest has to be that of the
// content as it stands or of its RFC 8785 form; what is kept has exactly that
// digest.
func (w *Writer) Object(ctx context.Context, o Object) error {
	if _, ok := w.known.Load(o.Digest); ok {
		return nil
	}
	content, ok := contentOf(o)
	if !ok || !isToken(o.Kind) {
		return w.invalid("an object whose digest is not that of its content, or of more than 64 MiB,")
	}
	path := filepath.Join(w.objects, strings.TrimPrefix(o.Digest, hashPrefix))
	mark := filepath.Join(w.stateDir, objectsDir, filepath.Base(path)) + loggedExt
	logged := func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}
	if err := w.keep(path, content, o.Digest); err != nil {
		return unavailable(w.path, err)
	}
	if logged() {
		w.known.Store(o.Digest, true)
		return nil
	}
	b, err := encodeObject(w.id, o.Kind, o.Digest, int64(len(content)))
	if err != nil {
		return w.invalid("an object that cannot be encoded").Because(err)
	}
	r := &request{entry: entry{body: b, sync: true, once: o.Digest}}
	r.unless = func() bool {
		_, ok := w.known.Load(o.Digest)
		return ok || logged()
	}
	r.written = func(e *entry) { // under the same lock as unless
		if e.length > 0 {
			_ = os.MkdirAll(filepath.Dir(mark), dirPerm)
			_ = atomicfile.WriteFile(mark, strconv.AppendUint(nil, e.at.seq, 10), filePerm)
		}
		w.known.Store(o.Digest, true)
	}
	return w.submit(ctx, r)
}

func contentOf(o Object) ([]byte, bool) {
	if _, ok := parseHash([]byte(o.Digest)); !ok || len(o.Content) > maxObject {
		return nil, false
	}
	if digest.Bytes(o.Content) == o.Digest {
		return o.Content, true
	}
	c, err := digest.Canonical(o.Content)
	return c, err == nil && digest.Bytes(c) == o.Digest
}

// keep writes the content unless it is there, whole.
func (w *Writer) keep(path string, content []byte, sum string) error {
	have, err := os.ReadFile(path)
	if err == nil && digest.Bytes(have) == sum {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(w.objects, dirPerm); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, content, filePerm)
}

// ReadObject gives the content of an artefact of the audit folder dir, after
// checking that it has the digest.
func ReadObject(dir, sum string) ([]byte, error) {
	if _, ok := parseHash([]byte(sum)); !ok {
		return nil, refuse("", ReasonInvalid, "%q is no digest of an object", sum)
	}
	path := filepath.Join(dir, objectsDir, strings.TrimPrefix(sum, hashPrefix))
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, unavailable(path, err)
	}
	if digest.Bytes(b) != sum {
		return nil, refuse(path, ReasonIO, "the object %s was changed: its content has another digest", path)
	}
	return b, nil
}
