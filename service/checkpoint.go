package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// lookEvery is how often a notary looks whether a checkpoint is due, unless it
// is woken before. Tests change it.
var lookEvery = time.Second

// mostInVain is how often a notary is woken between two looks of its own with
// nothing to sign. A wake-up for the checkpoint before may come late.
const mostInVain = 3

// notary signs what the log was. It works beside the calls: none waits for it.
type notary struct {
	key     note.Signer
	file    string
	records int64
	every   time.Duration
	logger  zerolog.Logger
	event   func(ctx context.Context, kind string, detail map[string]any) error
	sync    func() error // of the log

	log    *audit.Follower
	before *checkpoint.Signed // the last one of the file at the start, nil = none
	signed int64              // size of the log at the last checkpoint, its own event included
	since  time.Time          // when the first record after it was seen
	said   string             // the last error that was logged
	done   chan struct{}

	mu     sync.Mutex
	status CheckpointStatus
}

// notarize starts the notary that the configuration asks for. The key must be
// readable and the file writable now: who asks for proof should not learn
// later that there is none.
func (s *Service) notarize() error {
	cfg := s.Config.Audit.Checkpoint
	if cfg.Key == "" {
		return nil
	}
	key, err := keyring.ReadNoteSigner(cfg.Key)
	if err != nil {
		return err
	}
	n := &notary{
		key: key, file: cfg.File, records: cfg.EveryRecords, every: time.Duration(cfg.EverySeconds) * time.Second,
		logger: s.logger, log: s.Audit.Follow(), done: make(chan struct{}), sync: s.Audit.Sync,
		event: func(ctx context.Context, kind string, detail map[string]any) error {
			return s.event(ctx, kind, system, detail)
		},
	}
	if n.file == "" {
		n.file = filepath.Join(filepath.Dir(s.Audit.Path()), "checkpoints.txt")
	}
	if err := n.append(nil); err != nil {
		return err
	}
	public, err := keyring.NoteVerifier(cfg.Key)
	if err != nil {
		return err
	}
	if err := n.goOn(public); err != nil {
		return err
	}
	s.notary.Store(n)
	go n.run(s.background)
	return nil
}

// goOn takes up the last checkpoint of the file: a log that was cut or replaced
// while no process ran is not signed.
func (n *notary) goOn(public note.Verifier) error {
	f, err := os.Open(n.file)
	if err != nil {
		return n.unusable(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return n.unusable(err)
	}
	if !st.Mode().IsRegular() {
		n.logger.Warn().Str("file", n.file).Msg("the file of checkpoints cannot be read back: that the log was cut while no process ran is not noticed")
		return nil
	}
	last, behind, err := checkpoint.Last(f, st.Size(), public)
	if err != nil {
		return err
	}
	if behind > 0 {
		n.logger.Warn().Str("file", n.file).Str("key", n.key.Name()).Int("parts", behind).Bool("before", last != nil).
			Msg("the end of the file of checkpoints holds none of this key: another key signed them, or they are damaged")
	}
	if last != nil {
		n.before = last
		n.log.Since(last.Checkpoint)
		n.status.Size, n.status.At = last.Size, last.Time
	}
	return nil
}

// append adds a note to the file, for good.
func (n *notary) append(msg []byte) error {
	if err := checkpoint.Append(n.file, msg, 0o600); err != nil {
		return n.unusable(err)
	}
	return nil
}

func (n *notary) unusable(err error) error {
	return fault.New(fault.AuditUnavailable, "checkpoint-file", "checkpoints cannot be appended to %s; let this user read and write it, or name another file in audit.checkpoint.file", n.file).Because(err)
}

// run signs until ctx ends. It is woken when so many records are there that a
// checkpoint is due, but not while none can be made.
func (n *notary) run(ctx context.Context) {
	defer close(n.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	now, inVain := time.Now(), 0
	for {
		before := n.signed
		n.note(ctx, n.look(ctx, now))
		if n.signed != before {
			inVain = 0
		}
		var due <-chan struct{}
		if n.said == "" && inVain < mostInVain {
			due = n.log.Await(n.signed + n.records)
		}
		select {
		case <-ctx.Done():
			return
		case now = <-tick.C:
			inVain = 0
		case <-due:
			now = time.Now()
			inVain++
		}
	}
}

// note logs an error when it is another than the last one.
func (n *notary) note(ctx context.Context, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	n.mu.Lock()
	n.status.Err = fault.From(err)
	n.mu.Unlock()
	switch {
	case err == nil:
		n.said = ""
	case err.Error() != n.said:
		n.said = err.Error()
		n.logger.Error().Err(err).Msg("no checkpoint of the audit log could be made")
		if fault.From(err).Reason == audit.ReasonReplaced {
			n.refused(ctx, fault.From(err))
		}
	}
}

// refused says for good that this log is not signed any more, and what to do.
func (n *notary) refused(ctx context.Context, why *fault.Error) {
	detail := map[string]any{"reason": why.Reason, "message": why.Message, "key": n.key.Name()}
	if n.before != nil {
		detail["note"] = n.before.Note
	}
	n.logger.Error().Str("file", n.file).Msg("checkpoints of the audit log have ended: find out who changed it (toolwarrant audit verify names the place); then put the log back as it was and restart, or keep log and checkpoints as evidence, name another file in audit.checkpoint.file, and restart")
	if err := n.event(ctx, "checkpoint.refuse", detail); err != nil && !audit.InLog(err) {
		n.logger.Error().Err(err).Msg("that checkpoints have ended is not on record")
	}
}

// look makes a checkpoint when one is due.
func (n *notary) look(ctx context.Context, now time.Time) error {
	c, err := n.log.Next(ctx)
	if err != nil {
		return err
	}
	if c.Size <= n.signed {
		return nil
	}
	if n.since.IsZero() {
		n.since = now
	}
	if c.Size-n.signed < n.records && now.Sub(n.since) < n.every {
		return nil
	}
	msg, err := n.sign(c)
	if err != nil {
		return err
	}
	// The record of it carries the note to every place that gets the log.
	if err := n.event(ctx, "checkpoint", map[string]any{"size": c.Size, "head": c.Head, "key": n.key.Name(), "note": string(msg)}); err != nil {
		return err
	}
	n.signed++
	return nil
}

func (n *notary) sign(c checkpoint.Checkpoint) ([]byte, error) {
	// What is signed must not be lost with the power: the log would be shorter
	// than its checkpoint.
	if err := n.sync(); err != nil {
		return nil, err
	}
	msg, err := checkpoint.Sign(c, n.key)
	if err != nil {
		return nil, fault.New(fault.AuditUnavailable, "checkpoint-key", "the key %s cannot sign", n.key.Name()).Because(err)
	}
	if err := n.append(msg); err != nil {
		return nil, err
	}
	n.signed, n.since = c.Size, time.Time{}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status.Size, n.status.At = c.Size, c.Time
	return msg, nil
}

// last signs the end of the log, after the last record.
func (n *notary) last(ctx context.Context) error {
	<-n.done
	c, err := n.log.Next(ctx)
	if err != nil || c.Size <= n.signed {
		return err
	}
	_, err = n.sign(c)
	return err
}

// CheckpointStatus is how the checkpoints of the log do.
type CheckpointStatus struct {
	Size int64        // records that the last one counts, 0 = there is none yet
	At   time.Time    // when it was made
	Err  *fault.Error // why none can be made now, nil = they are made
}

// Age is how old the last checkpoint is, 0 where there is none.
func (c CheckpointStatus) Age(now time.Time) time.Duration {
	if c.At.IsZero() {
		return 0
	}
	return max(0, now.Sub(c.At))
}

// Checkpoints says how the checkpoints of the log do; nil where none are asked
// for. Safe for concurrent use.
func (s *Service) Checkpoints() *CheckpointStatus {
	n := s.notary.Load()
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	st := n.status
	return &st
}
