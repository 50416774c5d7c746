package agent

import (
	"fmt"
	"os"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/netns"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// network prepares the network of the sandbox, before anything is given up.
// The files are sent to the parent with Ready and closed here.
func (a *agent) network() ([]*os.File, error) {
	switch a.cfg.Net {
	case wire.NetInherit:
		return nil, nil
	case wire.NetNone:
		return nil, netns.Up()
	case wire.NetAllow:
		if err := netns.Up(); err != nil {
			return nil, err
		}
		fds, err := netns.Listen(a.cfg.Ports, a.cfg.Prefixes)
		if err != nil {
			return nil, err
		}
		files := make([]*os.File, len(fds))
		for i, fd := range fds {
			files[i] = os.NewFile(uintptr(fd), "listener")
		}
		return files, nil
	}
	return nil, fmt.Errorf("a network of kind %q", a.cfg.Net)
}
