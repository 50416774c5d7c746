package process

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Workers of the tests in this package do what the argument "do:NAME" says.
// The variables are set before any init function: that of this package is
// where a worker stays.
var misbehave = hostile()

var _ = func() bool {
	childHook = func(args []string, stream io.ReadWriter) []string {
		for i, a := range args {
			if name, ok := strings.CutPrefix(a, "do:"); ok {
				if f := misbehave[name]; f != nil {
					go f(stream)
					return nil
				}
				lockedHook(name, stream)
				return append(args[:i:i], args[i+1:]...)
			}
		}
		return args
	}
	return true
}()

// greetAnd makes a worker that says a right hello, waits for a call and then
// does as it likes.
func greetAnd(then func(c *worker.Conn, call worker.Frame)) func(io.ReadWriter) {
	return func(stream io.ReadWriter) {
		c := worker.NewConn(stream)
		_ = c.Send(worker.KindHello, 0, worker.Hello{Build: worker.BuildID(), PID: os.Getpid(), Isolation: worker.Isolation{Mode: "process"}}, nil)
		f, err := c.Receive()
		if err != nil {
			os.Exit(0)
		}
		then(c, f)
		time.Sleep(time.Minute)
	}
}

// openWith starts a Runtime whose workers get an argument more.
func openWith(t *testing.T, opts Options, arg string) *Runtime {
	t.Helper()
	extra = []string{arg}
	r := New(opts)
	t.Cleanup(func() { _ = r.Close(); extra = nil })
	return r
}
