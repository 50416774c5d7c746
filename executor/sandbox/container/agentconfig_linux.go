package container

import (
	"context"
	"fmt"
	"os"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// config is what the agent is told, with the trees of its mounts: what an
// agent of the process back end is told, but that the root is there already.
func (m *making) config(ctx context.Context) (wire.Config, []*os.File, error) {
	if m.f.kind.stream {
		return m.streamConfig(), nil, nil
	}
	cfg, trees, err := m.setup.Config(ctx)
	cfg.Root, cfg.RootPath, cfg.Folders = wire.RootReady, "", nil
	for i := range cfg.Mounts {
		if m := &cfg.Mounts[i]; !m.Tree {
			m.Source = staged(i)
		}
	}
	limits := m.spec.Limits
	if m.f.cgroups() {
		cfg.MaxMemory, cfg.MaxProcesses = 0, 0
	} else {
		cfg.MaxMemory, cfg.MaxProcesses = uint64(limits.MemoryMB)<<20, uint64(limits.MaxProcesses)
	}
	return cfg, trees, err
}

// staged is where the runtime of an ordinary user puts the source of a mount.
// The agent compares it with what was checked and moves it to its place.
func staged(i int) string { return fmt.Sprintf("/%s/mount-%d", agentFolder, i) }

// network puts the network to work on what the agent passed.
func (m *making) network(passed []*os.File) (*allow.Proxy, error) {
	if m.f.kind.stream {
		return nil, nil // there is none: nothing can be passed
	}
	return m.setup.Serve(passed)
}
