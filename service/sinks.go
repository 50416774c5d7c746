package service

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/sink/file"
	"github.com/toolwarrant/toolwarrant/audit/sink/otlp"
	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/audit/sink/spool"
	"github.com/toolwarrant/toolwarrant/audit/sink/syslog"
	"github.com/toolwarrant/toolwarrant/audit/sink/webhook"
	"github.com/toolwarrant/toolwarrant/audit/stdout"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
)

// openSinks opens the further places of the log that the configuration
// names, each behind a spool under audit/sinks of the home. A mistake in one
// is USAGE; one that does not answer is none.
func openSinks(o Options) (_ []audit.SinkOption, err error) {
	var all []audit.SinkOption
	defer func() {
		if err != nil {
			for _, s := range all {
				_ = s.Sink.Close()
			}
		}
	}()
	log := o.Config.Audit.File
	if log == "" {
		log = filepath.Join(o.Home, "audit", audit.FileName)
	}
	seen := map[string]bool{}
	for _, c := range o.Config.Audit.Sinks {
		if seen[c.Name] {
			return nil, fault.New(fault.Usage, "sink-name", "two audit sinks have the name %q; each needs its own, since its spool has that name", c.Name)
		}
		seen[c.Name] = true
		if err := checkKeys(c); err != nil {
			return nil, err
		}
		target, err := newSink(c, o)
		if err != nil {
			return nil, err
		}
		if target == nil {
			continue
		}
		s, err := spool.Open(filepath.Join(o.Home, "audit", "sinks", c.Name), target, spool.Options{
			Required: c.Required, MaxBytes: c.SpoolBytes, Timeout: time.Duration(c.TimeoutSeconds) * time.Second,
			Log: log, Notify: notice(o.Logger, c.Name, c.Required),
		})
		if err != nil {
			_ = target.Close()
			return nil, fault.New(fault.AuditUnavailable, audit.ReasonSink, "the spool of the audit sink %q cannot be opened: %v", c.Name, err).Because(err)
		}
		all = append(all, audit.SinkOption{Name: c.Name, Sink: s, Required: c.Required})
	}
	return all, nil
}

// keysOf are the keys that a type has beside those of every sink; the ones
// with "!" it needs.
var keysOf = map[string]string{
	"stdout":  "",
	"file":    "path!",
	"otlp":    "url! ca-file server-name cert-file key-file header-file",
	"webhook": "url! ca-file server-name cert-file key-file header-file secret-file!",
	"syslog":  "address! ca-file server-name cert-file key-file",
}

// checkKeys refuses a key that the type of the sink does not have: a setting
// without effect is a mistake.
func checkKeys(c config.Sink) error {
	given := map[string]string{
		"url": c.URL, "address": c.Address, "path": c.Path, "ca-file": c.CAFile, "server-name": c.ServerName,
		"cert-file": c.CertFile, "key-file": c.KeyFile, "header-file": c.HeaderFile, "secret-file": c.SecretFile,
	}
	has := map[string]bool{}
	for _, key := range strings.Fields(keysOf[c.Type]) {
		name, needed := strings.CutSuffix(key, "!")
		has[name] = true
		if needed && given[name] == "" {
			return fault.New(fault.Usage, "sink-keys", "the audit sink %q of type %s lacks %s", c.Name, c.Type, name)
		}
	}
	for _, name := range []string{"url", "address", "path", "ca-file", "server-name", "cert-file", "key-file", "header-file", "secret-file"} {
		if given[name] != "" && !has[name] {
			return fault.New(fault.Usage, "sink-keys", "an audit sink of type %s has no %s; take it from %q", c.Type, name, c.Name)
		}
	}
	return nil
}

// newSink makes what a spool sends to; nil where there is none here.
func newSink(c config.Sink, o Options) (audit.Sink, error) {
	conf := remote.TLS{CAFile: c.CAFile, ServerName: c.ServerName, CertFile: c.CertFile, KeyFile: c.KeyFile}
	to := remote.HTTP{URL: c.URL, TLS: conf, HeaderFile: c.HeaderFile, UserAgent: userAgent(o.Version)}
	switch c.Type {
	case "stdout":
		return standardOutput(c, o.Stdout, o.Logger)
	case "file":
		return asSink(file.New(c.Path))
	case "otlp":
		return asSink(otlp.New(to, o.Version))
	case "webhook":
		return asSink(webhook.New(to, c.SecretFile))
	case "syslog":
		return asSink(syslog.New(syslog.Options{Address: c.Address, TLS: conf}))
	}
	return nil, fault.New(fault.Usage, "sink-type", "there is no audit sink of type %q", c.Type)
}

// asSink keeps a nil pointer from becoming a sink.
func asSink[T audit.Sink](s T, err error) (audit.Sink, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// standardOutput is for whoever serves over HTTP. Elsewhere standard output
// is the answer of the command, or the channel of MCP.
func standardOutput(c config.Sink, out io.Writer, log zerolog.Logger) (audit.Sink, error) {
	switch {
	case out != nil:
		return stdout.New(out), nil
	case c.Required:
		return nil, fault.New(fault.Usage, "sink-stdout", "the required audit sink %q is standard output, which this command needs itself; only serve over HTTP can have it", c.Name)
	}
	log.Debug().Str("sink", c.Name).Msg("standard output is taken; this audit sink gets nothing")
	return nil, nil
}

// notice logs what happens to a sink. Errors of sinks name hosts and files,
// and hold nothing of a record or a credential.
func notice(log zerolog.Logger, name string, required bool) func(error) {
	return func(err error) {
		var damage *spool.Damage
		e := log.Error().Str("sink", name).Bool("required", required)
		switch {
		case err == nil:
			log.Info().Str("sink", name).Msg("the audit sink takes records again")
		case errors.As(err, &damage):
			e.Err(err).Msg("an audit sink lost records")
		default:
			e.Err(err).Msg("an audit sink does not take records; they wait in its spool")
		}
	}
}

// Sinks says how the further places of the log do, in the order of the
// configuration as far as they are of one kind.
func (s *Service) Sinks() []audit.SinkStatus { return s.Audit.Sinks() }
