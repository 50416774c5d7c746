package index

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo

	"github.com/toolwarrant/toolwarrant/audit"
)

// FileName is the index of a log, in the folder of what goes with it.
const FileName = "index.sqlite"

// format is raised when an index of before cannot be read any more; it is
// built anew then.
const format = 2

// metaPart is the number of what says how far the index goes.
const metaPart = -1

// File is the file of the index of the log at path.
func File(log string) string { return filepath.Join(audit.StateDir(log), FileName) }

// store is an open index.
type store struct {
	db         *sql.DB
	get        *sql.Stmt
	generation int64 // at random: parts of two indexes do not go together
	meta       meta
}

// meta says what the index covers: the blocks first up to, but not with,
// blocks, and the log up to the place next.
type meta struct {
	next          int64
	first, blocks int64
	lastPlace     int64 // of the last line that was read, to know the log again
	lastLength    int
	lastHash      [32]byte
}

func (m meta) encode() []byte {
	b := binary.AppendVarint(nil, m.next)
	for _, v := range []int64{m.first, m.blocks, m.lastPlace, int64(m.lastLength)} {
		b = binary.AppendVarint(b, v)
	}
	return append(b, m.lastHash[:]...)
}

func readMeta(data []byte) (m meta, err error) {
	r := reading{b: data}
	m.next, m.first, m.blocks, m.lastPlace, m.lastLength = r.signed(), r.signed(), r.signed(), r.signed(), int(r.signed())
	if r.bad || len(r.b) != len(m.lastHash) || m.first > m.blocks {
		return m, errDamaged
	}
	copy(m.lastHash[:], r.b)
	return m, nil
}

// errAbsent says that there is no index.
var errAbsent = errors.New("there is none")

// open opens an index that is there. mode is ro or rw.
func open(ctx context.Context, path, mode string) (*store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent
	}
	db, err := dial(path, mode)
	if err != nil {
		return nil, err
	}
	s := &store{db: db}
	if err := s.load(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

func dial(path, mode string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	// The disk is not asked to keep an index: that would hold up the syncs of
	// the log, and what a power cut leaves is found by its checksums and made
	// anew. A killed process leaves the journal, which the next one applies.
	// What is removed is overwritten, as the records were.
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(2000)", "synchronous(0)", "secure_delete(1)", "trusted_schema(0)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (s *store) load(ctx context.Context) error {
	var version int
	var data []byte
	err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version != format {
		return fmt.Errorf("it has format %d, not %d", version, format)
	}
	if err == nil {
		err = s.db.QueryRowContext(ctx, "SELECT data FROM part WHERE id = ?", metaPart).Scan(&data)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(data) < 8 {
		return errDamaged
	}
	s.generation = int64(binary.BigEndian.Uint64(data))
	if data, err = unseal(s.generation, metaPart, data[8:]); err != nil {
		return err
	}
	s.meta, err = readMeta(data)
	return err
}

// create makes an empty index in the place of what is there.
func create(ctx context.Context, path string) (*store, error) {
	for _, p := range []string{path, path + "-journal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := dial(path, "rw")
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:])
	s := &store{db: db, generation: int64(binary.BigEndian.Uint64(random[:]))}
	for _, q := range []string{"PRAGMA page_size = 8192", fmt.Sprint("PRAGMA user_version = ", format), "CREATE TABLE part (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT"} {
		if _, err = db.ExecContext(ctx, q); err != nil {
			break
		}
	}
	if err == nil {
		err = s.write(ctx, meta{}, nil)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// write enters parts and what the index covers with them, or nothing.
func (s *store) write(ctx context.Context, m meta, parts map[int64][]byte) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	put := func(id int64, data []byte) {
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO part (id, data) VALUES (?, ?)", id, data)
		}
	}
	for id, data := range parts {
		put(id, seal(s.generation, id, data))
	}
	if m.first > s.meta.first && err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM part WHERE id >= 0 AND id < ? OR id > ? AND id <= ?", m.first*partsOf, headerPart(m.first), headerPart(0))
	}
	put(metaPart, append(binary.BigEndian.AppendUint64(nil, uint64(s.generation)), seal(s.generation, metaPart, m.encode())...))
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		s.meta = m
	}
	return err
}

// part reads a part.
func (s *store) part(ctx context.Context, id int64) ([]byte, error) {
	var data []byte
	var err error
	if s.get == nil {
		s.get, err = s.db.PrepareContext(ctx, "SELECT data FROM part WHERE id = ?")
	}
	if err == nil {
		err = s.get.QueryRowContext(ctx, id).Scan(&data)
	}
	if err != nil {
		return nil, s.unread(ctx, err)
	}
	return unseal(s.generation, id, data)
}

func (s *store) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// headers reads all blocks, without their closes.
func (s *store) headers(ctx context.Context) (out []*block, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, data FROM part WHERE id <= ? AND id > ? ORDER BY id DESC", headerPart(s.meta.first), headerPart(s.meta.blocks))
	if err != nil {
		return nil, s.unread(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var data []byte
		if err := rows.Scan(&id, &data); err != nil {
			return nil, s.unread(ctx, err)
		}
		n := s.meta.first + int64(len(out))
		if id != headerPart(n) {
			return nil, errDamaged
		}
		if data, err = unseal(s.generation, id, data); err != nil {
			return nil, err
		}
		b, err := readHeader(n, data)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	if err := rows.Err(); err != nil {
		return nil, s.unread(ctx, err)
	}
	if int64(len(out)) != s.meta.blocks-s.meta.first {
		return nil, errDamaged
	}
	return out, nil
}

func (s *store) close() {
	if s.get != nil {
		_ = s.get.Close()
	}
	_ = s.db.Close()
}
