package service

import (
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
)

// auditOptions is what the configuration says of the log.
func (s *Service) auditOptions() audit.Options {
	cfg := s.Config.Audit
	return audit.Options{
		File: cfg.File, Fsync: audit.Fsync(cfg.Fsync), Interval: time.Duration(cfg.FsyncMillis) * time.Millisecond,
	}
}
