package container

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/capture"
)

// A running container, as the parent sees it. The runtime stays in the
// foreground: when process 1 ends, for whatever reason and also when this
// process is gone, it removes the control group and its own state.
type running struct {
	runtime, dir, id string
	kind             kind
	gate             *os.File // what it waits for before it begins; nil: nothing

	cmd    *exec.Cmd
	stderr *capture.Tail
	gone   chan struct{} // closed when the runtime has ended
	err    error         // how, after gone
}

// launch runs the container of p, whose bundle is in dir. file is the far end
// of the conversation, which it takes over. name is an image that an engine
// has.
func (f *Factory) launch(p plan, name, dir string, file *os.File) (*running, error) {
	r := &running{runtime: f.program, dir: dir, id: p.id, kind: f.kind, stderr: &capture.Tail{}, gone: make(chan struct{})}
	bundle := filepath.Join(dir, p.id)
	var args []string
	if !f.kind.stream {
		defer func() { _ = file.Close() }()
	}
	if f.kind.engine {
		filter := filepath.Join(bundle, "seccomp.json")
		if err := document(filter, p.seccomp); err != nil {
			return nil, err
		}
		if f.kind == docker {
			args = p.dockerArgs(name, filter)
		} else {
			args = slices.Insert(p.engineArgs(name, filter), 1, "--pidfile="+r.pidFile())
		}
	} else {
		if err := document(filepath.Join(bundle, "config.json"), p.config()); err != nil {
			return nil, err
		}
		args = []string{"--root", state(dir), "run", "--bundle", bundle, "--pid-file", r.pidFile(), "--preserve-fds", "1", p.id}
		if f.kind.kernel {
			args = p.kernelArgs(dir, bundle, r.pidFile())
		}
	}
	r.cmd = exec.Command(f.program, args...)
	if f.kind.stream {
		return r, r.carry(file, f.kind.kernel)
	}
	r.cmd.ExtraFiles = []*os.File{file}
	return r, r.begin()
}

func document(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func (r *running) begin() error {
	r.cmd.Stderr = r.stderr
	r.cmd.Env = runtimeEnv()
	r.cmd.Dir = "/"
	// A signal of the terminal is not for it. It must survive this process,
	// to clean up after it.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// What the container keeps open of its standard error does not count.
	r.cmd.WaitDelay = endPatience
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(r.gone)
		r.err = r.cmd.Wait()
	}()
	return nil
}

// why says what the runtime said when it ended.
func (r *running) why() error {
	select {
	case <-r.gone:
	default:
		return errors.New("the container does not answer")
	}
	if text := r.stderr.String(); text != "" {
		return fmt.Errorf("%s: %s", filepath.Base(r.runtime), text)
	}
	return fmt.Errorf("%s ended: %v", filepath.Base(r.runtime), r.err)
}

// runtimeEnv is all that a runtime gets of the environment.
func runtimeEnv() []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// run runs a command of a runtime to its end; what it writes to its standard
// error is the text of the error.
func run(ctx context.Context, name string, args ...string) error {
	_, err := output(ctx, name, args...)
	return err
}

// output is run, with at most 1 MiB of what the command writes.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	var out limited
	stderr := &capture.Tail{}
	c.Stdout, c.Stderr, c.Env, c.Dir, c.WaitDelay = &out, stderr, runtimeEnv(), "/", endPatience
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s did not end in time", filepath.Base(name))
		}
		if text := stderr.String(); text != "" {
			return nil, fmt.Errorf("%s: %s", filepath.Base(name), text)
		}
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return out.buf.Bytes(), nil
}

// limited keeps the first MiB.
type limited struct{ buf bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.buf.Write(p[:min(len(p), 1<<20-l.buf.Len())])
	return len(p), nil
}
