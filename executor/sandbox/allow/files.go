package allow

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// Extra is how many descriptors of a sandbox come after those of its ports:
// the name server's, for UDP and for TCP.
const Extra = 2

// ServeFiles is Serve on the descriptors that the agent of a sandbox sends
// with its wire.Ready: a listener for each of Ports, in order, then the name
// server's two. It closes files, whatever comes of it.
func (l *List) ServeFiles(files []*os.File) (p *Proxy, err error) {
	var made []io.Closer
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
		if err != nil {
			for _, c := range made {
				_ = c.Close()
			}
		}
	}()
	if len(files) != len(l.ports)+Extra {
		return nil, fmt.Errorf("the agent sent %d sockets in place of %d", len(files), len(l.ports)+Extra)
	}
	var (
		listeners []net.Listener
		udp       net.PacketConn
	)
	for i, f := range files {
		if i == len(l.ports) {
			if udp, err = net.FilePacketConn(f); err != nil {
				return nil, errors.New("a socket of the agent is not one of UDP")
			}
			made = append(made, udp)
			continue
		}
		ln, err := net.FileListener(f)
		if err != nil {
			return nil, errors.New("a socket of the agent is no listener")
		}
		made = append(made, ln)
		if at, ok := ln.Addr().(*net.TCPAddr); !ok || i < len(l.ports) && at.Port != l.ports[i] {
			return nil, errors.New("a listener of the agent has another port than was asked for")
		}
		listeners = append(listeners, ln)
	}
	return l.Serve(listeners[:len(l.ports)], udp, listeners[len(l.ports)]), nil
}
