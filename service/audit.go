package service

import (
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// auditOptions is what the configuration says of the log.
func (s *Service) auditOptions() (audit.Options, error) {
	cfg := s.Config.Audit
	o := audit.Options{
		File: cfg.File, Fsync: audit.Fsync(cfg.Fsync), Interval: time.Duration(cfg.FsyncMillis) * time.Millisecond,
		Rotate: audit.Rotation{Bytes: cfg.Rotate.Bytes, After: time.Duration(cfg.Rotate.Hours) * time.Hour},
		Retain: audit.Retention{Age: time.Duration(cfg.Retain.Days) * 24 * time.Hour, Segments: int(cfg.Retain.Segments)},
	}
	if cfg.Checkpoint.Key == "" || o.Retain == (audit.Retention{}) {
		return o, nil
	}
	key, err := keyring.ReadNoteSigner(cfg.Checkpoint.Key)
	if err != nil {
		return o, err
	}
	o.SignRemoval = func(r checkpoint.Removal) ([]byte, error) { return checkpoint.SignRemoval(r, key) }
	return o, nil
}

// upkeep logs what hinders the log from being rotated, compressed or cleared,
// once for each error. said is the one that was logged last.
func (s *Service) upkeep(said string) string {
	err := s.Audit.Upkeep()
	switch {
	case err == nil:
		return ""
	case err.Error() != said:
		s.logger.Error().Err(err).Msg("closed files of the audit log could not be kept in order; calls go on")
	}
	return err.Error()
}

// checkTail warns of lines at the end of the log that are no part of it. Calls
// go on: they are recorded behind these, and audit verify names them.
func (s *Service) checkTail(ctx context.Context) {
	found, err := s.Audit.CheckTail(ctx)
	if err != nil {
		s.logger.Warn().Err(err).Msg("the end of the audit log could not be looked at")
		return
	}
	if len(found) > 0 {
		s.logger.Warn().Str("file", s.Audit.Path()).Int("lines", len(found)).Str("kind", found[0].Kind).Str("first", found[0].Message).
			Msg("the end of the audit log is not whole: lines there are no records, or of another log; toolwarrant audit verify names them. Calls are recorded behind them")
	}
}
