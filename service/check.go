package service

import (
	"context"
	"os"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Checked is what an installation would serve.
type Checked struct {
	Policy PolicyStatus
	Shadow *PolicyStatus // nil = none
	Tools  int           // that are active and exposed
}

// Check looks at what Open would look at: the policies compile and pass their
// tests, the catalog can be read, the sinks of the log, the traces and the
// secrets file are as they should be. It opens no log, starts no worker and
// listens nowhere; a policy of a URL is fetched. Errors are those of Open.
func Check(ctx context.Context, o Options) (Checked, error) {
	var c Checked
	if err := checkApart(o); err != nil {
		return c, err
	}
	for _, s := range o.Config.Audit.Sinks {
		if err := checkKeys(s); err != nil {
			return c, err
		}
		target, err := newSink(s, o)
		if err != nil {
			return c, err
		}
		if closer := audit.Sink(target); closer != nil {
			_ = closer.Close()
		}
	}
	traces, err := openTraces(o)
	if err != nil {
		return c, err
	}
	if traces != nil {
		_ = traces.Close(ctx)
	}
	if err := secret.New(secretsFile(o.Home, o.Config), os.LookupEnv).Check(); err != nil {
		return c, err
	}
	boxes, err := NewSandboxes(o.Config)
	if err != nil {
		return c, err
	}
	_ = boxes.Close()
	tools, err := OpenCatalog(ctx, o.Home, o.Config)
	if err != nil {
		return c, err
	}
	all, err := tools.List(ctx)
	if err != nil {
		return c, err
	}
	for _, t := range all {
		if ok, _ := tools.Exposed(t); ok && t.State == catalog.StateActive {
			c.Tools++
		}
	}
	vet := func(ctx context.Context, candidate *resolver.Resolver) error { return Vet(ctx, candidate, all) }
	p, err := openPolicy(ctx, o.Home, o.Config, vet)
	if err != nil {
		return c, err
	}
	if c.Policy = p.status(); c.Policy.LastError != nil {
		return c, c.Policy.LastError
	}
	if o.Shadow && o.Config.Policy.Shadow != "" {
		p, err := openShadow(ctx, o.Home, o.Config, vet)
		if err != nil {
			return c, err
		}
		st := p.status()
		if c.Shadow = &st; st.LastError != nil {
			return c, ofShadow(st.LastError)
		}
	}
	return c, nil
}
