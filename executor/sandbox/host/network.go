package host

import (
	"errors"
	"net"
	"os"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/allow"
)

// Serve puts list to work on the descriptors that came with wire.Ready, which
// it closes in any case.
func Serve(list *allow.List, files []*os.File) (*allow.Proxy, error) {
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	const server = 2 // sockets of the name server
	ports := len(list.Ports())
	if len(files) != ports+server {
		return nil, errors.New("the agent did not send the listeners of the network")
	}
	var listeners []net.Listener
	closeAll := func(err error) error {
		for _, l := range listeners {
			_ = l.Close()
		}
		return err
	}
	for i, f := range files {
		if i == ports {
			continue
		}
		l, err := net.FileListener(f)
		if err != nil {
			return nil, closeAll(err)
		}
		listeners = append(listeners, l)
	}
	udp, err := net.FilePacketConn(files[ports])
	if err != nil {
		return nil, closeAll(err)
	}
	return list.Serve(listeners[:ports], udp, listeners[ports]), nil
}
