package service

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/mod/sumdb/note"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// lookEvery is how often a notary looks whether a checkpoint is due.
const lookEvery = time.Second

// notary signs what the log was. It works beside the calls: none waits for it.
type notary struct {
	key     note.Signer
	file    string
	records int64
	every   time.Duration
	logger  zerolog.Logger
	event   func(ctx context.Context, detail map[string]any) error

	log    *audit.Follower
	signed int64     // size of the log at the last checkpoint, its own event included
	since  time.Time // when the first record after it was seen
	said   string    // the last error that was logged
	done   chan struct{}
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
		logger: s.logger, log: s.Audit.Follow(), done: make(chan struct{}),
		event: func(ctx context.Context, detail map[string]any) error {
			return s.event(ctx, "checkpoint", system, detail)
		},
	}
	if n.file == "" {
		n.file = filepath.Join(filepath.Dir(s.Audit.Path()), "checkpoints.txt")
	}
	if err := n.append(nil); err != nil {
		return err
	}
	s.notary = n
	go n.run(s.background)
	return nil
}

// append adds a note to the file, for good.
func (n *notary) append(msg []byte) error {
	if err := checkpoint.Append(n.file, msg, 0o600); err != nil {
		return fault.New(fault.AuditUnavailable, "checkpoint-file", "checkpoints cannot be appended to %s; make it writable, or name another file in audit.checkpoint.file", n.file).Because(err)
	}
	return nil
}

// run signs until ctx ends.
func (n *notary) run(ctx context.Context) {
	defer close(n.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			n.note(n.look(ctx, now))
		}
	}
}

// note logs an error when it is another than the last one.
func (n *notary) note(err error) {
	switch {
	case err == nil:
		n.said = ""
	case err.Error() != n.said && !errors.Is(err, context.Canceled):
		n.said = err.Error()
		n.logger.Error().Err(err).Msg("no checkpoint of the audit log could be made")
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
	if err := n.event(ctx, map[string]any{"size": c.Size, "head": c.Head, "key": n.key.Name(), "note": string(msg)}); err != nil {
		return err
	}
	n.signed++
	return nil
}

func (n *notary) sign(c checkpoint.Checkpoint) ([]byte, error) {
	msg, err := checkpoint.Sign(c, n.key)
	if err != nil {
		return nil, fault.New(fault.AuditUnavailable, "checkpoint-key", "the key %s cannot sign", n.key.Name()).Because(err)
	}
	if err := n.append(msg); err != nil {
		return nil, err
	}
	n.signed, n.since = c.Size, time.Time{}
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
