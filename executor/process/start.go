package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/confine"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// startPatience is how long a worker may take to say hello.
const startPatience = 10 * time.Second

// proc is one worker as the parent sees it. It serves one call at a time.
type proc struct {
	cmd    *exec.Cmd
	near   io.ReadWriteCloser
	conn   *worker.Conn
	group  *confine.Group
	stderr *tail
	hello  worker.Hello
	idle   int64 // bytes resident before the first call

	calls  int
	quick  bool // the last call was a short one
	spare  bool // there were processors to spare when this call began
	number uint32
	cause  atomic.Pointer[worker.Failure] // as what it was killed
	once   sync.Once
	gone   chan struct{} // closed when the process has ended
	state  *os.ProcessState
}

// program is what a worker is a start of. On Linux the name leads to the
// file that runs, also when another was put in its place since.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// starter starts workers, all on one thread: a worker dies with the thread
// that started it.
type starter struct {
	thread *confine.Starter
}

func newStarter(stop <-chan struct{}) *starter {
	return &starter{thread: confine.NewStarter(stop)}
}

// extra are further arguments of workers; a test sets them.
var extra []string

// start starts one worker at a level and waits for its hello.
func (s *starter) start(ctx context.Context, level confine.Level, args []string) (*proc, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	p := &proc{stderr: &tail{}, gone: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: path, Args: slices.Concat([]string{workerName}, args, extra), Env: []string{}, Dir: workDir, Stderr: p.stderr, WaitDelay: time.Second}
	level.Prepare(p.cmd)
	near, far, err := stream(p.cmd)
	if err != nil {
		return nil, err
	}
	p.near, p.conn = near, worker.NewConn(near)
	err = s.thread.Do(ctx, p.cmd.Start)
	far.Close()
	if err != nil {
		near.Close()
		return nil, fmt.Errorf("%s: %w", level.Name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.state = p.cmd.ProcessState
		close(p.gone)
	}()
	patience := time.AfterFunc(startPatience, p.kill)
	defer patience.Stop()
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	if err := p.greet(); err != nil {
		p.end()
		if said := p.stderr.String(); said != "" {
			err = fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, fmt.Errorf("%s: %w", level.Name, err)
	}
	return p, nil
}

// greet reads the hello and takes hold of the process.
func (p *proc) greet() error {
	f, err := p.conn.Receive()
	if err != nil {
		return fmt.Errorf("the worker did not start: %w", err)
	}
	if f.Kind != worker.KindHello || f.Decode(&p.hello) != nil {
		return errors.New("the worker did not say hello")
	}
	if p.hello.Build != worker.BuildID() {
		return fmt.Errorf("the worker is another build (%q) than this process (%q): restart", p.hello.Build, worker.BuildID())
	}
	p.idle = resident(p.cmd.Process.Pid)
	p.group, err = confine.Attach(p.cmd)
	return err
}

// kill ends the process now. It is safe from any goroutine and may be called
// again.
func (p *proc) kill() {
	p.once.Do(func() { _ = p.cmd.Process.Kill() })
}

// killAs ends the process as f, unless it is being ended as something else.
func (p *proc) killAs(f *worker.Failure) {
	p.cause.CompareAndSwap(nil, f)
	p.kill()
}

// end kills the process, waits for it and gives back what it held.
func (p *proc) end() {
	p.kill()
	<-p.gone
	_ = p.near.Close()
	if p.group != nil {
		_ = p.group.Close()
	}
}

// workDir is where workers are: a folder that is always there and holds
// nothing of anybody.
var workDir = func() string {
	if runtime.GOOS == "windows" {
		return os.TempDir()
	}
	return "/"
}()

// tail keeps the first bytes of what a worker writes to its standard error,
// and drops the rest: the Go runtime says there why it ends a process.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), maxTail-len(t.text))]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.text), "?"))
}
