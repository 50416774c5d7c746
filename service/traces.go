package service

import (
	"go.opentelemetry.io/otel/trace"

	"github.com/toolwarrant/toolwarrant/audit/sink/remote"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/service/telemetry"
)

// openTraces begins to trace where the configuration says so; nil = there are
// no traces.
func openTraces(o Options) (*telemetry.Traces, error) {
	c := o.Config.Telemetry
	if c.TracesURL == "" {
		return nil, nil
	}
	return telemetry.Start(telemetry.Options{
		To: remote.HTTP{
			URL: c.TracesURL, HeaderFile: c.HeaderFile, UserAgent: userAgent(o.Version),
			TLS: remote.TLS{CAFile: c.CAFile, ServerName: c.ServerName, CertFile: c.CertFile, KeyFile: c.KeyFile},
		},
		SamplePercent: int(c.SamplePercent), Name: o.Config.Name, Version: o.Version, Logger: o.Logger,
	})
}

func tracerOf(t *telemetry.Traces) trace.Tracer {
	if t == nil {
		return nil
	}
	return t.Tracer(executor.TracerName)
}
