package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"
)

const patience = 700 * time.Millisecond

// netProbes reach for something outside of the sandbox.
var netProbes = []probe{
	{Name: "loopback-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "tcp", "127.0.0.1:"+a["port"]) }},
	{Name: "loopback6-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "tcp", "[::1]:"+a["port"]) }},
	{Name: "mapped-loopback-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "tcp", "[::ffff:127.0.0.1]:"+a["port"]) }},
	{Name: "any-address-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "tcp", "0.0.0.0:"+a["port"]) }},
	{Name: "own-address-of-host", Dimension: netDeny, run: func(a args) verdict {
		if a["own"] == "" {
			return absent("the host has no address but loopback")
		}
		// Nobody listens there; a refusal is the host that answers.
		v := connected("tcp", net.JoinHostPort(a["own"], a["port"]))
		if strings.Contains(v.Detail, "refused") {
			return open("the host answered: %s", v.Detail)
		}
		return v
	}},
	{Name: "udp-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "udp", "127.0.0.1:"+a["udp"]) }},
	{Name: "abstract-socket-of-host", Dimension: netDeny, run: func(a args) verdict { return greeted(a, "unix", "@"+a["abstract"]) }},
	{Name: "path-socket-of-host", Dimension: fsRead, run: func(a args) verdict { return greeted(a, "unix", a["socket"]) }},
	{Name: "path-socket-through-process-1", Dimension: fsRead, run: func(a args) verdict { return greeted(a, "unix", "/proc/1/root"+a["socket"]) }},
	{Name: "metadata-address", Dimension: netDeny, Wild: true, run: func(args) verdict { return connected("tcp", "169.254.169.254:80") }},
	{Name: "public-address", Dimension: netDeny, Wild: true, run: func(args) verdict { return connected("tcp", "1.1.1.1:443") }},
	{Name: "public-address6", Dimension: netDeny, Wild: true, run: func(args) verdict { return connected("tcp", "[2606:4700:4700::1111]:443") }},
	{Name: "route-to-public-address", Dimension: netDeny, run: func(args) verdict {
		// Without a packet: is there a way out at all?
		c, err := net.Dial("udp", "1.1.1.1:53")
		if err != nil {
			return held("%v", err)
		}
		defer c.Close()
		return open("a route, from %v", c.LocalAddr())
	}},
	{Name: "dns", Dimension: netDeny, Wild: true, run: func(args) verdict {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		found, err := net.DefaultResolver.LookupHost(ctx, "example.com")
		var answer *net.DNSError
		if errors.As(err, &answer) && answer.IsNotFound {
			return open("a name server answered: %v", err)
		}
		return refused(err, strings.Join(found, " "))
	}},
	{Name: "devices-of-host", Dimension: netDeny, run: func(args) verdict {
		devices, err := net.Interfaces()
		if err != nil {
			return held("%v", err)
		}
		for _, d := range devices {
			if d.Flags&net.FlagLoopback == 0 && d.Flags&net.FlagUp != 0 {
				return open("%s", d.Name)
			}
		}
		return held("%d devices, none that leads out", len(devices))
	}},
	{Name: "listen-where-host-sees-it", Dimension: netDeny, run: func(a args) verdict {
		// Two name spaces can both have a listener on one port.
		l, err := net.Listen("tcp", "127.0.0.1:"+a["port"])
		if err != nil {
			return open("the port is the host's: %v", err)
		}
		defer l.Close()
		return held("its own port")
	}},
}

// greeted is open when a server of the tests answers with their secret.
func greeted(a args, network, address string) verdict {
	c, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return held("%v", err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = c.Write([]byte("probe\n"))
	answer := make([]byte, 256)
	n, err := c.Read(answer)
	if err == nil && !strings.Contains(string(answer[:n]), a["secret"]) {
		return held("another server")
	}
	return refused(err, "the server of the host answered")
}

func connected(network, address string) verdict {
	c, err := net.DialTimeout(network, address, patience)
	if err == nil {
		c.Close()
	}
	return refused(err, "connected")
}
