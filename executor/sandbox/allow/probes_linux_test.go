package allow

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

const patience = 5 * time.Second

// probes are what the jail can try. Each gives what it got out of it.
var probes = map[string]func(args []string) (string, error){
	// say ADDRESS TEXT: what the other side answers, to the end.
	"say": func(a []string) (string, error) {
		c, err := net.DialTimeout("tcp", a[0], patience)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(c, a[1]); err != nil {
			return "", err
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			return "", err
		}
		b, err := io.ReadAll(c)
		return string(b), err
	},
	// listen ADDRESS NET: a server of its own.
	"listen": func(a []string) (string, error) {
		l, err := net.Listen(a[1], a[0])
		if err != nil {
			return "", err
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = io.WriteString(c, "mine")
				c.Close()
			}
		}()
		c, err := net.Dial(a[1], l.Addr().String())
		if err != nil {
			return "", err
		}
		b, err := io.ReadAll(c)
		return string(b), err
	},
	// reuse PORT: a socket beside the listener of the list.
	"reuse": func(a []string) (string, error) {
		port, _ := strconv.Atoi(a[0])
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{198, 18, 0, 1}}); err != nil {
			return "", err
		}
		return "bound", unix.Listen(fd, 1)
	},
	// udp ADDRESS: an answer to a packet.
	"udp": func(a []string) (string, error) {
		c, err := net.DialTimeout("udp", a[0], patience)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(c, "hello"); err != nil {
			return "", err
		}
		b := make([]byte, 100)
		n, err := c.Read(b)
		return string(b[:n]), err
	},
	// unix NAME: a socket of the abstract kind.
	"unix": func(a []string) (string, error) {
		c, err := net.Dial("unix", a[0])
		if err != nil {
			return "", err
		}
		defer c.Close()
		return "connected", nil
	},
	// socket FAMILY TYPE PROTOCOL: whether there is such a one.
	"socket": func(a []string) (string, error) {
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(a[i])
		}
		fd, err := unix.Socket(n[0], n[1], n[2])
		if err != nil {
			return "", err
		}
		return "opened", unix.Close(fd)
	},
	// ask NET SERVER NAME TYPE: what a name server says.
	"ask": func(a []string) (string, error) {
		kind, _ := strconv.Atoi(a[3])
		return ask(a[0], a[1], a[2], dnsmessage.Type(kind))
	},
	// tls ADDRESS NAME: a handshake with this name in it.
	"tls": func(a []string) (string, error) {
		c, err := net.DialTimeout("tcp", a[0], patience)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		t := tls.Client(c, &tls.Config{ServerName: a[1], InsecureSkipVerify: true})
		return "shaken", t.Handshake()
	},
	// flood ADDRESS N: N connections that say nothing; how many live on.
	"flood": func(a []string) (string, error) {
		n, _ := strconv.Atoi(a[1])
		var all []net.Conn
		for range n {
			if c, err := net.DialTimeout("tcp", a[0], patience); err == nil {
				all = append(all, c)
			}
		}
		alive := 0
		for _, c := range all {
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, err := c.Read(make([]byte, 1))
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				alive++
			}
			defer c.Close()
		}
		return strconv.Itoa(alive), nil
	},
	// time ADDRESS N: N connections with a word and its echo; microseconds each.
	"time": func(a []string) (string, error) {
		n, _ := strconv.Atoi(a[1])
		began := time.Now()
		for range n {
			c, err := net.Dial("tcp", a[0])
			if err != nil {
				return "", err
			}
			_, _ = io.WriteString(c, "x")
			if _, err := c.Read(make([]byte, 1)); err != nil {
				return "", err
			}
			c.Close()
		}
		return strconv.Itoa(int(time.Since(began).Microseconds()) / n), nil
	},
	// pour ADDRESS BYTES: sends that many; MB per second.
	"pour": func(a []string) (string, error) {
		n, _ := strconv.ParseInt(a[1], 10, 64)
		c, err := net.Dial("tcp", a[0])
		if err != nil {
			return "", err
		}
		defer c.Close()
		began, buf := time.Now(), make([]byte, 1<<20)
		for left := n; left > 0; left -= int64(len(buf)) {
			if _, err := c.Write(buf); err != nil {
				return "", err
			}
		}
		_ = c.(*net.TCPConn).CloseWrite()
		_, err = io.ReadAll(c)
		return fmt.Sprint(n / max(time.Since(began).Microseconds(), 1)), err
	},
	// run ARGV: a program.
	"run": func(a []string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		b, err := exec.CommandContext(ctx, a[0], a[1:]...).CombinedOutput()
		return strings.TrimSpace(string(b)), err
	},
}

// ask asks a server and gives the code and the addresses of the answer.
func ask(network, server, name string, kind dnsmessage.Type) (string, error) {
	n, err := dnsmessage.NewName(name)
	if err != nil {
		return "", err
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 1, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}}}
	q, err := m.Pack()
	if err != nil {
		return "", err
	}
	c, err := net.DialTimeout(network, server, patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if network == "tcp" {
		q = append([]byte{byte(len(q) >> 8), byte(len(q))}, q...)
	}
	if _, err := c.Write(q); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	got, err := c.Read(b)
	if err != nil {
		return "", err
	}
	b = b[:got]
	if network == "tcp" {
		b = b[min(2, len(b)):]
	}
	if err := m.Unpack(b); err != nil {
		return "", err
	}
	out := m.RCode.String()
	for _, r := range m.Answers {
		out += " " + fmt.Sprint(r.Body.(*dnsmessage.AResource).A)
	}
	return out, nil
}
