package process

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// warmBox is a sandbox with a warm interpreter, and one without beside it.
func warmBox(t testing.TB, more ...func(*sandbox.Spec)) (warm, cold sandbox.Sandbox) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no python3 of the system here: ", err)
	}
	f := factory(t, Options{})
	s := spec()
	for _, m := range more {
		m(&s)
	}
	cold = create(t, f, s)
	s.Warm = "python"
	return create(t, f, s), cold
}

func python(code string, args ...string) sandbox.Command {
	return sandbox.Command{Argv: append([]string{"python3", "-c", code}, args...)}
}

// isFork tells a warm interpreter from a new one: only the latter is a child
// of process 1.
const isFork = "import os; print(os.getppid() != 1)"

func exec1(t testing.TB, box sandbox.Sandbox, c sandbox.Command) sandbox.Result {
	t.Helper()
	r, err := box.Exec(context.Background(), c)
	if err != nil {
		t.Fatalf("%q: %v", c.Argv, err)
	}
	return r
}

func wantFork(t testing.TB, box sandbox.Sandbox, want bool) {
	t.Helper()
	if r := exec1(t, box, python(isFork)); string(r.Stdout) != map[bool]string{true: "True\n", false: "False\n"}[want] {
		t.Errorf("in a fork of the warm interpreter: %q %s; want %v", r.Stdout, r.Stderr, want)
	}
}

// TestWarmIsLikeNew runs programs in a warm interpreter and in a new one, and
// wants the same of both.
func TestWarmIsLikeNew(t *testing.T) {
	warm, cold := warmBox(t)
	script := "import sys\nprint(__file__, __name__, sys.argv, sys.path[0])\ndef f():\n    raise ValueError('deep')\nf()\n"
	for _, c := range []struct {
		name string
		sandbox.Command
	}{
		{"prints", python("print(1)")},
		{"arguments", python("import sys; print(sys.argv, sys.orig_argv, sys.path[0])", "a", "-c", "ä")},
		{"names", python("print(sorted(globals()), __name__)")},
		{"exception", python("def f():\n  1/0\ntry:\n  f()\nexcept Exception as e:\n  raise KeyError('k') from e")},
		{"no program", python("x = = 1")},
		{"a zero byte", python("x = '\\0'; print(len(x))")},
		{"exits", python("import sys; sys.exit(7)")},
		{"exits with words", python("import sys; sys.exit('words')")},
		{"exits with a large code", python("import sys; sys.exit(259)")},
		{"exits without", python("raise SystemExit")},
		{"exits at once", python("import os; print('x', flush=True); os._exit(9)")},
		{"interrupted", python("raise KeyboardInterrupt")},
		{"ended by a signal", python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")},
		{"signals", python("import signal; print([(s, signal.getsignal(s)) for s in signal.valid_signals() if s not in (9, 19)], signal.pthread_sigmask(0, []))")},
		{"environment", sandbox.Command{Argv: []string{"python3", "-c", "import os; print(sorted(os.environ.items()), os.getcwd())"}, Env: []string{"A=1", "B=ü"}, Dir: "/tmp"}},
		{"and without it again", python("import os; print(sorted(os.environ.items()), os.getcwd())")},
		{"environment of children", sandbox.Command{Argv: []string{"python3", "-c", "import os; os.system('env | sort')"}, Env: []string{"A=1"}}},
		{"descriptors", python("import os; print(sorted(os.listdir('/proc/self/fd')))")},
		{"session", python("import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))")},
		{"rights", python("print([l for l in open('/proc/self/status') if l.split(':')[0] in ('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp', 'Uid', 'Gid', 'Groups')])")},
		{"limits", python("import resource; print([resource.getrlimit(i) for i in range(16)])")},
		{"input", sandbox.Command{Argv: []string{"python3", "-c", "import sys; print(input(), sys.stdin.read())"}, Stdin: strings.NewReader("one\ntwo\nthree")}},
		{"no input", python("print(input())")},
		{"a file that is left open", python("f = open('/tmp/left', 'w'); f.write('data')")},
		{"and has its content", python("print(open('/tmp/left').read())")},
		{"what is dropped at the end", python("class A:\n  def __del__(self): print('dropped')\na = A()")},
		{"at exit", python("import atexit; atexit.register(print, 'bye'); print('hi')")},
		{"threads are waited for", python("import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('t'))).start()\nprint('m')")},
		{"processes", python("import multiprocessing as m\nif __name__ == '__main__':\n  with m.Pool(2) as p: print(p.map(abs, [-1, 2]))")},
		{"asyncio", python("import asyncio\nasync def m(): print('a')\nasyncio.run(m())")},
		{"output that is closed", python("import sys; sys.stdout.close()")},
		{"a script is written", python("open('s.py', 'w').write(" + fmt.Sprintf("%q", script) + ")")},
		{"a script", sandbox.Command{Argv: []string{"python3", "s.py", "x"}}},
		{"a script by its path", sandbox.Command{Argv: []string{"python3", "/scratch/s.py"}, Dir: "/tmp"}},
		{"a script that is not there", sandbox.Command{Argv: []string{"python3", "none.py"}}},
		{"a module", sandbox.Command{Argv: []string{"python3", "-m", "this"}}},
		{"an option", sandbox.Command{Argv: []string{"python3", "-I", "-c", "import sys; print(sys.flags.isolated)"}}},
		{"an environment of Python's", sandbox.Command{Argv: []string{"python3", "-c", "import sys; print(sys.path[1])"}, Env: []string{"PYTHONPATH=/tmp/p"}}},
		{"a place that is not there", sandbox.Command{Argv: []string{"python3", "-c", "1"}, Dir: "/nowhere"}},
		{"much output", python("print('x' * 3000000)")},
		{"much program", python("x = '" + strings.Repeat("y", 100_000) + "'; print(len(x))")},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := c.Stdin
			w := exec1(t, warm, c.Command)
			if input != nil {
				c.Stdin = strings.NewReader("one\ntwo\nthree")
			}
			n := exec1(t, cold, c.Command)
			if w.ExitCode != n.ExitCode || w.Signal != n.Signal || string(w.Stdout) != string(n.Stdout) || string(w.Stderr) != string(n.Stderr) || w.Truncated != n.Truncated {
				t.Errorf("warm: %d %.500q %.500q\nnew:  %d %.500q %.500q", w.ExitCode, w.Stdout, w.Stderr, n.ExitCode, n.Stdout, n.Stderr)
			}
		})
	}
	wantFork(t, warm, true)
	wantFork(t, cold, false)
}

// TestWarmIsSwept: nothing of a warm command outlives it, and the interpreter
// outlives what it can.
func TestWarmIsSwept(t *testing.T) {
	warm, _ := warmBox(t)
	const others = "import os; print([open('/proc/'+p+'/comm').read() for p in sorted(os.listdir('/proc'), key=str) if p.isdigit() and int(p) not in (1, os.getpid(), os.getppid())])"
	for _, c := range []struct {
		name    string
		command sandbox.Command
		fork    bool
	}{
		{"a child in the background", python("import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)"), true},
		{"a grandchild", python("import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(100)\n  os._exit(0)"), true},
		{"an ordinary command's", sandbox.Shell("setsid sleep 100 & true"), true},
		{"processes that continue others", python("import os, signal, time\nfor i in range(8):\n  if os.fork() == 0:\n    while True:\n      try: os.kill(-1, signal.SIGCONT)\n      except OSError: pass\ntime.sleep(.1)"), true},
		{"processes that make others", python("import os\nfor i in range(4):\n  if os.fork() == 0:\n    while True:\n      if os.fork(): os._exit(0)\n"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exec1(t, warm, c.command)
			if r.ExitCode != 0 {
				t.Errorf("%d %s", r.ExitCode, r.Stderr)
			}
			if r.Usage.Orphans == 0 {
				t.Error("nothing was left")
			}
			if r := exec1(t, warm, python(others)); string(r.Stdout) != "[]\n" {
				t.Errorf("there is still %s %s", r.Stdout, r.Stderr)
			}
		})
	}
	t.Run("orphans are reaped meanwhile", func(t *testing.T) {
		r := exec1(t, warm, python("import os, time\nif os.fork() == 0:\n  for i in range(20):\n    if os.fork() == 0: os._exit(0)\n  os._exit(0)\nos.wait()\ntime.sleep(.3)\nprint([s for s in (open('/proc/'+p+'/stat').read() for p in os.listdir('/proc') if p.isdigit()) if ') Z ' in s])"))
		if string(r.Stdout) != "[]\n" {
			t.Errorf("%s %s", r.Stdout, r.Stderr)
		}
	})
}

// TestWarmIsLost: what ends the interpreter ends the command, and there is
// another one.
func TestWarmIsLost(t *testing.T) {
	warm, _ := warmBox(t)
	comesBack := func(t *testing.T) {
		t.Helper()
		var r sandbox.Result
		for range 100 {
			if r = exec1(t, warm, python(isFork)); string(r.Stdout) == "True\n" {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("no warm interpreter came: %d %q %s", r.ExitCode, r.Stdout, r.Stderr)
	}
	comesBack(t)
	t.Run("timeout", func(t *testing.T) {
		c := python("import signal, time\nfor s in (signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(1)")
		c.Timeout = 300 * time.Millisecond
		if r := exec1(t, warm, c); !r.TimedOut || r.ExitCode == 0 {
			t.Errorf("%+v", r)
		}
		comesBack(t)
	})
	t.Run("killed by the command", func(t *testing.T) {
		if r := exec1(t, warm, python("import os, time; os.kill(os.getppid(), 9); time.sleep(100)")); r.Signal != 9 {
			t.Errorf("%+v", r)
		}
		comesBack(t)
	})
	t.Run("stopped by the command", func(t *testing.T) {
		c := python("import os; os.kill(os.getppid(), 19)")
		c.Timeout = 500 * time.Millisecond
		if r := exec1(t, warm, c); !r.TimedOut {
			t.Errorf("%+v", r)
		}
		comesBack(t)
	})
	t.Run("all killed by an ordinary command", func(t *testing.T) {
		exec1(t, warm, sandbox.Shell("kill -9 -1"))
		comesBack(t)
	})
	t.Run("reset", func(t *testing.T) {
		exec1(t, warm, python("import os; open('/tmp/x', 'w'); os.makedirs(os.path.expanduser('~/.local/lib'))"))
		if err := warm.Reset(context.Background()); err != nil {
			t.Fatal(err)
		}
		wantFork(t, warm, true)
		if r := exec1(t, warm, python("import os; print(os.listdir('/tmp'), os.listdir('/scratch'))")); string(r.Stdout) != "[] []\n" {
			t.Errorf("%s", r.Stdout)
		}
	})
	t.Run("memory", func(t *testing.T) {
		if r := exec1(t, warm, python("x = []\nwhile True: x.append(bytearray(1 << 20))")); r.ExitCode == 0 {
			t.Errorf("%+v", r)
		}
		comesBack(t)
	})
}

// BenchmarkPython is a program in a warm interpreter and in a new one.
func BenchmarkPython(b *testing.B) {
	warm, cold := warmBox(b)
	for name, box := range map[string]sandbox.Sandbox{"warm": warm, "new": cold} {
		b.Run(name, func(b *testing.B) {
			exec1(b, box, python("1"))
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				exec1(b, box, python("print(1)"))
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[0].Microseconds())/1000, "min-ms")
		})
	}
}
