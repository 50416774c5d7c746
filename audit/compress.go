package audit

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// compress makes gzip files of the closed segments that are plain. What a
// crash leaves between any two steps is a plain file that counts, and beside
// it at most a compressed one that does not yet.
func (k *keeper) compress(ctx context.Context) error {
	closed, err := closedSegments(k.w.stateDir, k.w.path)
	if err != nil {
		return err
	}
	for _, s := range closed {
		if err := k.pack(ctx, s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// pack compresses one file: written, synced and read back under another name,
// renamed, and only then is the plain one removed.
func (k *keeper) pack(ctx context.Context, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := path + gzipExt + ".tmp"
	want, err := gzipTo(ctx, temp, in)
	if err == nil {
		err = unpacksTo(ctx, temp, want)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := k.reached("compressed"); err != nil {
		return err
	}
	if err := os.Rename(temp, path+gzipExt); err != nil {
		return err
	}
	if err := errors.Join(atomicfile.SyncDir(filepath.Dir(path)), k.reached("named")); err != nil {
		return err
	}
	_ = in.Close() // before removing: Windows does not remove open files
	if err := os.Remove(path); err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), k.reached("unlinked"))
}

// gzipTo gives the digest of what was compressed.
func gzipTo(ctx context.Context, path string, in io.Reader) (hash.Hash, error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, filePerm)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed) // text so repetitive gains little by more
	sum := sha256.New()
	if err == nil {
		_, err = io.Copy(io.MultiWriter(z, sum), &stoppable{ctx, in})
		err = errors.Join(err, z.Close(), out.Sync())
	}
	return sum, errors.Join(err, out.Close())
}

// unpacksTo reads a compressed file back.
func unpacksTo(ctx context.Context, path string, want hash.Hash) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	got := sha256.New()
	if _, err := io.Copy(got, &stoppable{ctx, z}); err != nil {
		return err
	}
	if string(got.Sum(nil)) != string(want.Sum(nil)) {
		return fmt.Errorf("audit: %s does not read back as it was written; the plain file is kept", path)
	}
	return nil
}

// stoppable is a reader that ends with its context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}
