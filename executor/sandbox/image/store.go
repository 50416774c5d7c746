package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// Bounds are those of one unpacked image. The zero value means the defaults.
type Bounds struct {
	Bytes int64 // of all files; 0 = 8 GiB
	Files int   // and folders and links, over all layers; 0 = 500,000
}

func (b Bounds) orDefault() Bounds {
	if b.Bytes <= 0 {
		b.Bytes = 8 << 30
	}
	if b.Files <= 0 {
		b.Files = 500_000
	}
	return b
}

// A Store keeps unpacked images by the digest of their manifest. It is safe
// for concurrent use, also by several processes on one folder. Nothing is
// removed from it on its own: an image is one folder, and may be deleted while
// no sandbox uses it.
type Store struct {
	// Dir is the folder; "" = toolwarrant/images in the cache folder of the
	// user. It is made, for this user alone; one that others may write is
	// refused.
	Dir    string
	Bounds Bounds

	once sync.Mutex // one unpacking at a time
}

// unpack gives the folder of an image of a layout, unpacking it the first
// time.
func (s *Store) unpack(ctx context.Context, r Ref) (Root, error) {
	l, err := openLayout(r.Path)
	if err != nil {
		return Root{}, missing("the image %s cannot be used: %v", r.Path, err)
	}
	defer l.close()
	d, m, err := l.find(r)
	if err != nil {
		return Root{}, missing("the image %s cannot be used: %v", r.Path, err)
	}
	dir, err := s.folder()
	if err != nil {
		return Root{}, missing("there is no place for unpacked images: %v", err)
	}
	s.once.Lock()
	defer s.once.Unlock()
	to := filepath.Join(dir, strings.Replace(d.Digest, ":", "-", 1))
	root := Root{Path: to, Digest: d.Digest}
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		return root, nil
	}
	sweep(dir)
	tmp, err := os.MkdirTemp(dir, fmt.Sprintf("%s%d-", unfinished, os.Getpid()))
	if err != nil {
		return Root{}, missing("there is no place for unpacked images: %v", err)
	}
	defer removeAll(tmp)
	if err := unpackLayers(ctx, l, m.Layers, tmp, s.Bounds.orDefault()); err != nil {
		if ctx.Err() != nil {
			return Root{}, sandbox.Errorf(sandbox.ErrImage, "the image %s was not unpacked in time: %v", r.Path, ctx.Err()).Because(ctx.Err())
		}
		return Root{}, missing("the image %s cannot be unpacked: %v", r.Path, err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return Root{}, missing("the image %s cannot be unpacked: %v", r.Path, err)
	}
	// Another process may have been faster: its folder has the same content.
	if err := os.Rename(tmp, to); err != nil && !errors.Is(err, os.ErrExist) {
		return Root{}, missing("the image %s cannot be put in its place: %v", r.Path, err)
	}
	return root, nil
}

// folder makes the folder of the store and checks that it is ours alone.
func (s *Store) folder() (string, error) {
	dir := s.Dir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w; name a folder for images", err)
		}
		dir = filepath.Join(cache, "toolwarrant", "images")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if err := ownedByUs(info); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return dir, nil
}

// unfinished begins the name of a folder that is being filled.
const unfinished = ".new-"

// sweep removes what processes left that ended while they unpacked.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), unfinished)
		if pid, _, cut := strings.Cut(rest, "-"); ok && cut && !alive(pid) {
			removeAll(filepath.Join(dir, e.Name()))
		}
	}
}

// removeAll removes a folder, also where its folders forbid it.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
