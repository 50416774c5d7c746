package microvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/host"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/process"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/relay"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// boot starts the machines of one sandbox, one after another.
type boot struct {
	f            *factory
	spec         sandbox.Spec
	plan         plan
	agent, image string

	mu   sync.Mutex
	root *os.File // the first root, made once
}

// systemMiB is what kernel, agent and page tables of a machine need.
const systemMiB = 96

// maxOpenFiles bounds the descriptors of each process.
const maxOpenFiles = 1024

// inodesPerMiB is how many files there can be in a MiB of scratch space.
const inodesPerMiB = 256

// prepare makes the first root and the size of the machine.
func (b *boot) prepare() (plan, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root == nil {
		root, err := firstRoot(b.agent, b.image, b.spec.Mounts)
		if err != nil {
			return plan{}, err
		}
		b.root = root
	}
	info, err := b.root.Stat()
	if err != nil {
		return plan{}, err
	}
	p := b.plan
	p.initrd = b.root
	// The archive and what is unpacked of it are there at the same time.
	p.memoryMiB = int(p.memory>>20) + systemMiB + 2*int(info.Size()>>20+1)
	return p, nil
}

func (b *boot) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.root != nil {
		b.root.Close()
		b.root = nil
	}
	b.plan.kernel.Close()
}

// start boots a machine as far as an agent that is ready.
func (b *boot) start(ctx context.Context) (*host.Instance, error) {
	p, err := b.prepare()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.f.o.BootTimeout, fmt.Errorf("it did not boot within %v", b.f.o.BootTimeout))
	defer cancel()
	if p.group, err = b.f.group(b.spec.Limits, p.memoryMiB); err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no control group for the monitor: %v", err).Because(err)
	}
	m, err := b.f.start(ctx, p)
	if err != nil && p.group != nil {
		_ = p.group.Close() // the monitor has ended, or never began
	}
	if errors.Is(err, sandbox.ErrUnavailable) {
		return nil, err // with words of its own
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "no virtual machine of %s starts: %v", b.f.id, err).Because(err)
	}
	var conn *talk
	var missing []string
	config, err := b.config()
	if err == nil {
		conn, missing, err = m.greet(ctx, config)
	}
	if err == nil && len(missing) > 0 && !b.spec.AllowPartial {
		err = fmt.Errorf("its kernel lacks %v", missing)
	}
	if err != nil {
		err = because(ctx, err)
		m.end()
		return nil, sandbox.Errorf(sandbox.ErrUnavailable, "a virtual machine of %s was started and did not get ready: %v%s", b.f.id, err, m.said()).Because(err)
	}
	return m.instance(conn), nil
}

// config is what the agent is told.
func (b *boot) config() (*wire.Config, error) {
	filter, err := confine.CommandFilter(true)
	if err != nil {
		return nil, fmt.Errorf("no filter of system calls: %w", err)
	}
	c := &wire.Config{
		Version: wire.Version, Hostname: "sandbox", Root: wire.RootDir, RootPath: guest.Image,
		ScratchBytes: int64(b.spec.Limits.DiskMB) << 20, ScratchInodes: int64(b.spec.Limits.DiskMB) * inodesPerMiB,
		Net: "none", UID: guest.CommandUser, GID: guest.CommandUser,
		Landlock: true, MaxOpenFiles: maxOpenFiles,
		Env: process.Environment(b.spec), Dir: b.spec.WorkingDir,
	}
	if c.Dir == "" {
		c.Dir = process.Home
	}
	for _, in := range filter {
		c.Filter = append(c.Filter, wire.Instruction{Op: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	for i, m := range b.spec.Mounts {
		c.Mounts = append(c.Mounts, wire.Mount{Source: path.Join(guest.Mounts, strconv.Itoa(i)), Target: m.Target})
	}
	return c, nil
}

// talk is the conversation with the agent of a machine.
type talk struct {
	conn  *wire.Conn // the parent's end
	meter *meter
	ended chan struct{} // the relay is over
}

// greet waits for the guest, configures its agent, and gives the conversation
// and what the agent lacks.
func (m *machine) greet(ctx context.Context, c *wire.Config) (*talk, []string, error) {
	// Whatever waits on the stream ends with ctx, and with the monitor.
	stop := context.AfterFunc(ctx, func() { _ = m.stream.Close() })
	defer stop()
	if err := readHello(m.stream); err != nil {
		return nil, nil, err
	}
	near, file, err := wire.Pair()
	if err != nil {
		return nil, nil, err
	}
	t := &talk{conn: near, meter: &meter{}, ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		_ = relay.Host(stream.New(m.stream, true), wire.NewConn(file), t.meter.see)
	}()
	ready, err := configure(near, c)
	if err != nil {
		near.Close()
		_ = m.stream.Close()
		<-t.ended
		return nil, nil, err
	}
	return t, ready.Missing, nil
}

// readHello takes the first words of the guest and not a byte more.
func readHello(r io.Reader) error {
	got := make([]byte, len(guest.Hello))
	if n, err := io.ReadFull(r, got); err != nil {
		return fmt.Errorf("the guest did not say hello (%d bytes): %w", n, err)
	}
	if string(got) != guest.Hello {
		return fmt.Errorf("the guest says %.40q in place of hello", got)
	}
	return nil
}

func configure(conn *wire.Conn, c *wire.Config) (*wire.Ready, error) {
	if err := conn.Send(wire.Message{Kind: wire.KindConfig, Config: c}); err != nil {
		return nil, err
	}
	msg, files, err := conn.Receive()
	for _, f := range files {
		f.Close()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the agent does not answer: %w", err)
	case msg.Kind != wire.KindReady || msg.Ready == nil:
		return nil, fmt.Errorf("a message of kind %.20q in place of ready", msg.Kind)
	case msg.Ready.Error != "":
		return nil, errors.New("the agent cannot make the sandbox: " + msg.Ready.Error)
	case msg.Ready.Version != wire.Version:
		return nil, fmt.Errorf("the agent speaks version %d and this program %d; put the two from one build together", msg.Ready.Version, wire.Version)
	}
	return msg.Ready, nil
}

// instance gives the machine to package host.
func (m *machine) instance(t *talk) *host.Instance {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-m.gone:
		case <-t.ended: // the guest is not to be talked to any more
		}
		m.end()
		<-t.ended
	}()
	return &host.Instance{Conn: t.conn, Kill: func() { _ = m.cmd.Process.Kill() }, Gone: gone, Meter: t.meter}
}

// meter takes note of what the guest says of its control group.
type meter struct{ killed, refused atomic.Int64 }

func (m *meter) see(msg *wire.Message) {
	if e := msg.Exited; e != nil {
		m.killed.Store(int64(e.Killed))
		m.refused.Store(int64(e.Refused))
	}
}

// Begin is called before a command.
func (m *meter) Begin() {
	m.killed.Store(0)
	m.refused.Store(0)
}

// End says which limit the command hit.
func (m *meter) End(r *sandbox.Result) {
	switch {
	case r.LimitHit != "":
	case m.killed.Load() > 0:
		r.LimitHit = sandbox.Memory
	case m.refused.Load() > 0:
		r.LimitHit = sandbox.Processes
	}
}
