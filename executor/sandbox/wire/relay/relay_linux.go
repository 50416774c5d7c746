package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire/stream"
)

// stdio is how many channels a message has that starts a command: standard
// input, output and error.
const stdio = 3

// A Hook sees a message on its way and may change it. nil changes nothing.
type Hook func(*wire.Message)

func (h Hook) see(m *wire.Message) {
	if h != nil {
		h(m)
	}
}

// Host serves the parent, which has the other end of control, until that or
// the stream ends. Then both have ended. told is for messages of the agent.
func Host(m *stream.Mux, control *wire.Conn, told Hook) error {
	var copies sync.WaitGroup
	return both(m, control, &copies,
		func(msg wire.Message, files []*os.File) error {
			switch len(files) {
			case 0:
				return send(m, msg)
			case stdio:
			default:
				closeAll(files)
				return fmt.Errorf("a message with %d descriptors cannot be sent into a machine; that of a command has %d", len(files), stdio)
			}
			for i := range files {
				var err error
				if files[i], err = patient(files[i]); err != nil {
					closeAll(files)
					return err
				}
			}
			text, err := json.Marshal(msg)
			if err != nil {
				closeAll(files)
				return err
			}
			ch, err := m.Send(text, stdio)
			if err != nil {
				closeAll(files)
				return err
			}
			copies.Go(func() { inward(ch[0], files[0], func() {}) })
			for i := 1; i < stdio; i++ {
				copies.Go(func() { outward(files[i], ch[i]) })
			}
			return nil
		},
		func(msg wire.Message, ch []*stream.Channel) error {
			if len(ch) > 0 {
				return errors.New("the machine opens channels that nobody asked for")
			}
			told.see(&msg)
			return control.Send(msg)
		})
}

// Guest serves the agent, which has the other end of control, until that or
// the stream ends. Then both have ended. asked is for messages of the host,
// told for those of the agent.
//
// The end of a command is told when all of its output is under way: the
// parent waits for output no longer than pipes take. An attached process is
// read by somebody who may take any time, so its end is told at once.
func Guest(m *stream.Mux, control *wire.Conn, asked, told Hook) error {
	var copies, outputs sync.WaitGroup
	var attached atomic.Bool
	return both(m, control, &copies,
		func(msg wire.Message, files []*os.File) error {
			closeAll(files)
			if msg.Kind == wire.KindExited && !attached.Load() {
				outputs.Wait()
			}
			told.see(&msg)
			return send(m, msg)
		},
		func(msg wire.Message, ch []*stream.Channel) error {
			if len(ch) != 0 && len(ch) != stdio {
				return fmt.Errorf("a message with %d channels", len(ch))
			}
			asked.see(&msg)
			if msg.Exec != nil {
				attached.Store(msg.Exec.Attach)
			}
			var theirs []*os.File
			defer func() { closeAll(theirs) }()
			for i, c := range ch {
				ours, their, err := pipe(i == 0)
				if err != nil {
					return err
				}
				theirs = append(theirs, their)
				if i == 0 {
					copies.Go(func() { outward(ours, c) })
				} else {
					outputs.Add(1)
					copies.Go(func() { inward(c, ours, outputs.Done) })
				}
			}
			return control.Send(msg, theirs...)
		})
}

func send(m *stream.Mux, msg wire.Message) error {
	text, err := json.Marshal(msg)
	if err == nil {
		_, err = m.Send(text, 0)
	}
	return err
}

// both runs the two directions until one ends, ends the other, and waits for
// all that was copied.
func both(m *stream.Mux, control *wire.Conn, copies *sync.WaitGroup, packet func(wire.Message, []*os.File) error, message func(wire.Message, []*stream.Channel) error) error {
	ends := make(chan error, 2)
	go func() {
		for {
			msg, files, err := control.Receive()
			if err == nil {
				err = packet(msg, files)
			}
			if err != nil {
				ends <- err
				return
			}
		}
	}()
	go func() {
		for {
			text, ch, err := m.Receive()
			var msg wire.Message
			if err == nil {
				err = json.Unmarshal(text, &msg)
			}
			if err == nil {
				err = message(msg, ch)
			}
			if err != nil {
				ends <- err
				return
			}
		}
	}()
	err := <-ends
	_ = m.Close()
	_ = control.Close()
	<-ends
	copies.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// inward copies what is read from f into the channel. The end of either ends
// both: when the other side of the channel goes, so does f. sent is called
// when everything has been sent.
func inward(ch *stream.Channel, f *os.File, sent func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, ch)
		_ = f.Close()
	}()
	_, err := io.Copy(onlyWriter{ch}, f)
	_ = ch.CloseWrite()
	sent()
	if err != nil {
		_ = f.Close()
	}
	<-done
}

// outward copies what the channel brings into f, and ends the channel when f
// takes no more.
func outward(f *os.File, ch *stream.Channel) {
	_, _ = io.Copy(f, onlyReader{ch})
	_ = f.Close()
	_ = ch.Close()
}

// The io.Copy of a file would try to splice; a channel is none.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

// pipe makes a pipe of which this side reads, or writes where it is the input
// of a command. The other side blocks, as programs expect it.
func pipe(input bool) (ours, theirs *os.File, err error) {
	var ends [2]int // read, write
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	if input {
		ends[0], ends[1] = ends[1], ends[0]
	}
	_ = unix.SetNonblock(ends[0], true)
	return os.NewFile(uintptr(ends[0]), "stdio"), os.NewFile(uintptr(ends[1]), "stdio"), nil
}

// patient gives a file over the same descriptor on which a read or write ends
// when the file is closed.
func patient(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "stdio"), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
