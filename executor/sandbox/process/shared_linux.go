package process

import (
	"context"
	"os"

	"github.com/toolwarrant/toolwarrant/executor/confine/cgroup"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// A Setup is what an agent has to be told of a Spec, for back ends that start
// it otherwise. It may be used for any number of starts.
type Setup struct{ l launch }

// Setup checks and pins the mounts of spec and compiles its network. Errors: ErrSpec, ErrUnavailable.
func (f *Factory) Setup(ctx context.Context, spec sandbox.Spec) (*Setup, error) {
	if err := f.prepare(ctx); err != nil {
		return nil, unavailable(ctx, err)
	}
	s := &Setup{launch{f: f, spec: spec}}
	if err := s.l.mounts(); err != nil {
		return nil, err
	}
	return s, s.l.network()
}

// Serve puts the network to work on the descriptors that came with wire.Ready,
// which it closes; nil without an AllowList.
func (s *Setup) Serve(files []*os.File) (*allow.Proxy, error) {
	if s.l.list == nil {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, nil
	}
	return s.l.list.ServeFiles(files)
}

// Config is the configuration, to be changed by the caller, and the trees that
// go with it, to be closed by it.
func (s *Setup) Config(ctx context.Context) (wire.Config, []*os.File, error) {
	cfg := s.l.config()
	trees, err := s.l.trees(ctx, cfg.Mounts)
	return cfg, trees, err
}

// Told is Config without the trees, for those that put the mounts in their
// place themselves: they have to be the files that the configuration says.
func (s *Setup) Told() wire.Config { return s.l.config() }

// NewMeter measures commands by a control group.
func NewMeter(group *cgroup.Group) host.Meter { return &meter{group: group} }
