package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// FileName is the name of the log in the audit folder of a home.
const FileName = "audit.ndjson"

// Options are what Open may be told.
type Options struct {
	// File is the log, in place of audit.ndjson in the folder. All that go
	// with a log elsewhere (lock, writers, torn tails) are in a folder
	// <File>.d, so that several homes may share one log; objects stay in the
	// home.
	File string
	// Fsync says when what is written is made durable, SyncGroup if empty.
	Fsync Fsync
	// Interval is the longest time that SyncInterval leaves a record
	// unsynced, 100 ms if zero.
	Interval time.Duration
	// Rotate says when the log goes on in a new file, Retain which of the
	// closed ones are removed.
	Rotate Rotation
	Retain Retention
	// SignRemoval signs the note of a removal, nil = none is made.
	SignRemoval func(checkpoint.Removal) ([]byte, error)
	// Sinks get the lines as well.
	Sinks []SinkOption
	// Now is the clock, time.Now if nil.
	Now func() time.Time

	writer string // id, for tests
	batch  int    // most records of one commit, for benchmarks
	manual bool   // the test is the keeper
	open   func(path string, flag int) (logFile, error)
}

// Writer is the Log of one process on one chain. Any number of writers, of
// this and of other processes, share a chain. Safe for concurrent use.
//
// What it promises: a record whose method returned nil is in the file, and,
// where the method says so, synced. Lines of one caller stand in the order of
// its calls. A record whose method failed is not in the file, with three
// exceptions that the reason of the error names: "timeout", where nobody
// knows, "sink", where the file has it and a required sink does not, and
// "io" after a disk that neither syncs nor takes back what was written.
type Writer struct {
	id       string
	path     string
	objects  string
	stateDir string
	now      func() time.Time
	batch    int
	syncing  syncing

	chain  *chain
	live   *live
	keeper *keeper
	calls  *calls
	sinks  *sinks
	health health
	untold []Event  // of the log about itself, not yet written; the committer's
	known  sync.Map // digests of objects that are in the chain

	mu       sync.Mutex
	queue    []*request
	wake     chan struct{}
	stopping bool
	stopped  chan struct{}

	watch watch
	first [][]byte // lines of begin, for the sinks

	recovered Recovery
}

var _ Log = (*Writer)(nil)

// layout says where the things are that go with a log.
func layout(dir, file string) (stateDir, lockPath string) {
	stateDir = dir
	if filepath.Clean(file) != filepath.Join(dir, FileName) {
		stateDir = file + ".d"
	}
	return stateDir, filepath.Join(stateDir, lockName)
}

// Open opens, or begins, the chain in dir (the audit folder of a home, made
// with mode 0700), sets a torn tail aside and closes what dead processes left
// open. Everything that goes wrong is AUDIT_UNAVAILABLE. Shutdown has to be
// called in the end.
func Open(dir string, o Options) (*Writer, error) {
	path := o.File
	if path == "" {
		path = filepath.Join(dir, FileName)
	}
	w, err := open(dir, path, o)
	if err != nil {
		return nil, unavailable(path, err)
	}
	r, err := w.CloseAbandoned(context.Background(), w.now())
	if err != nil && !InLog(err) {
		_ = w.Shutdown(context.Background())
		return nil, err
	}
	w.recovered = r
	if !o.manual {
		w.keeper.start()
	}
	return w, nil
}

func open(dir, path string, o Options) (*Writer, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	stateDir, lockPath := layout(dir, path)
	for _, d := range []string{dir, stateDir} {
		if err := os.MkdirAll(d, dirPerm); err != nil {
			return nil, err
		}
	}
	w := &Writer{
		id: o.writer, path: path, objects: filepath.Join(dir, objectsDir), stateDir: stateDir,
		now: o.Now, batch: o.batch, calls: newCalls(),
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	if w.id == "" {
		w.id = uuid.NewString()
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.batch <= 0 {
		w.batch = batchMax
	}
	if w.syncing, err = newSyncing(o); err != nil {
		return nil, err
	}
	if w.syncing.every {
		w.batch = 1
	}
	if o.open == nil {
		o.open = openLogFile
	}
	w.chain = &chain{path: path, lockPath: lockPath, stateDir: stateDir, writer: w.id,
		open: o.open, now: w.now, hash: newHasher()}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := withRecoveryLock(ctx, stateDir, func() error { return w.begin(ctx) }); err != nil {
		_ = w.chain.close()
		return nil, err
	}
	w.sinks = startSinks(o.Sinks)
	w.keeper = newKeeper(w, o)
	w.keeper.grew(w.chain)
	if len(w.first) > 0 {
		_ = w.sinks.deliver(ctx, w.first, true) // a sink that is down keeps it
	}
	go w.run()
	w.watch.begin(w.reportSinks)
	return w, nil
}

// begin looks at the log for the first time and announces this writer.
func (w *Writer) begin(ctx context.Context) error {
	unlock, err := w.chain.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := w.chain.refresh(true)
	if err != nil {
		return err
	}
	var first []*entry
	e, err := w.chain.resume()
	if err != nil {
		return err
	}
	if e != nil {
		first = append(first, e)
	}
	if t != nil {
		b, err := encodeEvent(w.id, t.event(), nil)
		if err != nil {
			return err
		}
		first = append(first, &entry{body: b, sync: true})
	}
	if len(first) > 0 {
		if _, err := w.chain.append(first, nil); err != nil {
			return err
		}
		w.first = w.chain.lines(first)
	}
	if err := w.chain.locate(); err != nil {
		return err
	}
	w.chain.loose.from = w.chain.end
	w.live, err = register(w.stateDir, w.id, w.chain.place.base+w.chain.end)
	return err
}

// ID is the writer member of the lines of this process.
func (w *Writer) ID() string { return w.id }

// Path is the file of the log.
func (w *Writer) Path() string { return w.path }

// Shutdown takes no more records, writes those that wait and releases
// everything. Calls of this process that have no close yet stay open in the
// log; the next Open closes them as INTERRUPTED. A second Shutdown does
// nothing.
func (w *Writer) Shutdown(ctx context.Context) error {
	w.watch.end(ctx)
	w.keeper.stop()
	w.mu.Lock()
	if w.stopping {
		w.mu.Unlock()
		return nil
	}
	w.stopping = true
	close(w.wake)
	w.mu.Unlock()
	select {
	case <-w.stopped:
	case <-ctx.Done():
		return unavailable(w.path, ctx.Err())
	}
	err := w.sinks.close(ctx)
	if w.chain.loose.failed {
		err = w.health.last()
	}
	if low, n := w.calls.low(w.chain.place.base + w.chain.end); n > 0 {
		_ = writeMark(w.live.mark, low)
		w.live.release(false)
	} else {
		w.live.release(true)
	}
	if e := w.chain.close(); err == nil {
		err = e
	}
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		return unavailable(w.path, err)
	}
	return nil
}
