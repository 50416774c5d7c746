package main

import (
	"io"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
)

// newLogger writes lines in the form that cfg wants. terminal says whether
// they may have colours.
func newLogger(out io.Writer, cfg *config.Config, terminal bool) zerolog.Logger {
	if cfg.Log.Format != "json" {
		out = zerolog.ConsoleWriter{Out: out, NoColor: !terminal, TimeFormat: "15:04:05"}
	}
	return zerolog.New(out).With().Timestamp().Logger()
}

func levelOf(cfg *config.Config) zerolog.Level {
	level, err := zerolog.ParseLevel(cfg.Log.Level)
	if err != nil {
		return zerolog.InfoLevel
	}
	return level
}

// setLevel puts a level into force for the whole process: every part has its
// own logger, made from one at the start.
func setLevel(cfg *config.Config) { zerolog.SetGlobalLevel(levelOf(cfg)) }
