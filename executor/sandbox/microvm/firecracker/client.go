// Package firecracker is a client of the API of Firecracker, a monitor of
// small virtual machines: HTTP over a unix socket of the monitor's process.
// It has what a sandbox needs: the size of a machine, kernel and first root,
// read-only drives, vsock, start, and what the monitor says of itself.
//
// The monitor is trusted as far as its answers are read; they are bounded all
// the same, since a guest that took over its monitor could write them.
package firecracker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 64 << 10

// A Client speaks to one monitor. It is safe for concurrent use; the monitor
// takes one request after another.
type Client struct {
	http *http.Client
}

// NewClient makes a client of the monitor that listens, or will, on socket.
func NewClient(socket string) *Client {
	return &Client{&http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
			Proxy:              nil,
			DisableCompression: true,
			MaxIdleConns:       1,
			IdleConnTimeout:    10 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close gives back the connection to the monitor.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Info is what the monitor says of itself.
type Info struct {
	ID      string `json:"id"`
	State   string `json:"state"` // "Not started", "Running", "Paused"
	Version string `json:"vmm_version"`
}

// MachineConfig is the size of a machine.
type MachineConfig struct {
	VCPUs     int  `json:"vcpu_count"`
	MemoryMiB int  `json:"mem_size_mib"`
	SMT       bool `json:"smt"`
}

// BootSource is what a machine boots. Paths are as the monitor sees them.
type BootSource struct {
	Kernel    string `json:"kernel_image_path"`
	Initrd    string `json:"initrd_path,omitempty"`
	Arguments string `json:"boot_args,omitempty"`
}

// Vsock connects the ports of a guest to a unix socket of the host.
type Vsock struct {
	CID    uint32 `json:"guest_cid"` // of the guest; 3 or more
	Socket string `json:"uds_path"`
}

// Info asks the monitor what it is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	var i Info
	err := c.do(ctx, http.MethodGet, "/", nil, &i)
	return i, err
}

// SetMachine says how large the machine is.
func (c *Client) SetMachine(ctx context.Context, m MachineConfig) error {
	return c.do(ctx, http.MethodPut, "/machine-config", m, nil)
}

// SetBoot says what the machine boots.
func (c *Client) SetBoot(ctx context.Context, b BootSource) error {
	return c.do(ctx, http.MethodPut, "/boot-source", b, nil)
}

// SetVsock adds the vsock device.
func (c *Client) SetVsock(ctx context.Context, v Vsock) error {
	return c.do(ctx, http.MethodPut, "/vsock", v, nil)
}

// Start starts the machine.
func (c *Client) Start(ctx context.Context) error {
	return c.do(ctx, http.MethodPut, "/actions", map[string]string{"action_type": "InstanceStart"}, nil)
}

// A Refusal is an answer of the monitor that is not success.
type Refusal struct {
	Method, Path string
	Status       int
	Message      string // as the monitor put it, shortened
}

// Error says what was asked and what the answer is.
func (r *Refusal) Error() string {
	return fmt.Sprintf("firecracker refuses %s %s (%d): %s", r.Method, r.Path, r.Status, r.Message)
}

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	var text io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		text = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, text)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s of firecracker: %w", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s of firecracker: %w", method, path, err)
	case len(answer) > maxAnswer:
		return fmt.Errorf("%s %s of firecracker: an answer of more than %d KiB", method, path, maxAnswer>>10)
	case resp.StatusCode == http.StatusNoContent && into == nil, resp.StatusCode == http.StatusOK:
	default:
		return &Refusal{method, path, resp.StatusCode, faultMessage(answer)}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("%s %s of firecracker: the answer is not what it should be: %w", method, path, err)
	}
	return nil
}

func faultMessage(answer []byte) string {
	var f struct {
		Message string `json:"fault_message"`
	}
	text := string(answer)
	if json.Unmarshal(answer, &f) == nil && f.Message != "" {
		text = f.Message
	}
	if len(text) > 500 {
		text = text[:500]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "?"))
}

// ErrNoGuest is what Connect gives while nothing in the guest listens on the
// port.
var ErrNoGuest = errors.New("nothing in the guest listens on this port")

// Connect connects to a port of a guest through the socket of its vsock
// device. It tries once.
func Connect(ctx context.Context, socket string, port uint32) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = handshake(conn, port)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// handshake says the port and reads "OK <number>" byte by byte: what follows
// the line belongs to the guest.
func handshake(conn io.ReadWriter, port uint32) error {
	if _, err := fmt.Fprintf(conn, "CONNECT %d\n", port); err != nil {
		return fmt.Errorf("%w: %w", ErrNoGuest, err)
	}
	var line []byte
	for b := make([]byte, 1); len(line) < 32; {
		if _, err := conn.Read(b); err != nil {
			// The monitor closes the connection where there is no listener.
			return fmt.Errorf("%w: %w", ErrNoGuest, err)
		}
		if b[0] == '\n' {
			if !strings.HasPrefix(string(line), "OK ") {
				break
			}
			return nil
		}
		line = append(line, b[0])
	}
	return fmt.Errorf("the vsock device answers %q", line)
}
