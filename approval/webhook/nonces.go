package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrReplayed: a message with this id was taken already.
var ErrReplayed = errors.New("a message with this id was taken already")

// Nonces remembers the ids of messages that were taken, in a folder that any
// number of processes share, so that none is taken twice, after a restart
// either. Safe for concurrent use.
type Nonces struct {
	dir  string
	keep time.Duration
	now  func() time.Time

	mu    sync.Mutex
	swept time.Time
}

// OpenNonces opens the folder, and makes it (0700). keep is how long an id is
// remembered: more than a message can be old and still be taken.
func OpenNonces(dir string, keep time.Duration) (*Nonces, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the message ids cannot be made: %w", err)
	}
	return &Nonces{dir: dir, keep: keep, now: time.Now}, nil
}

// Take notes an id; ErrReplayed when it was noted before. Any other error
// means that nobody knows, and the message is not to be taken.
func (n *Nonces) Take(id string) error {
	n.sweep()
	f, err := os.OpenFile(n.path(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrReplayed
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// GiveBack forgets an id whose message had no effect after all, since this
// installation could not serve it: its sender tries again with the same id.
func (n *Nonces) GiveBack(id string) error { return os.Remove(n.path(id)) }

// path is the file of an id: its digest, since an id is anybody's text.
func (n *Nonces) path(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(n.dir, hex.EncodeToString(sum[:]))
}

// sweep removes the ids of messages that are too old to be taken anyway.
func (n *Nonces) sweep() {
	now := n.now()
	n.mu.Lock()
	due := now.Sub(n.swept) > n.keep/2
	if due {
		n.swept = now
	}
	n.mu.Unlock()
	if !due {
		return
	}
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return // Take says what is wrong
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > n.keep {
			_ = os.Remove(filepath.Join(n.dir, e.Name()))
		}
	}
}
