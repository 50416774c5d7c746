package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
)

// ServeStdio speaks with one client over in and out, one message per line,
// until in ends or ctx does. Calls that were received are answered before it
// returns, for at most DrainTimeout; open questions are refused at once when
// in ends, since nobody can answer them. in may still be read in the
// background when ctx ended first.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ended, inEnded := context.WithCancel(context.Background())
	defer inEnded()
	stop, stopNow := context.WithCancel(s.stop)
	defer stopNow()
	d := s.door(decision.OriginMCPStdio)
	d.stop = stop
	d.drop = func(*mcp.RequestExtra) context.Context { return context.Background() }
	d.gone = func(*mcp.RequestExtra) context.Context { return ended }

	pr, pw := io.Pipe()
	lines := &lineWriter{out: out, open: map[string]bool{}}
	lines.refused = func(f frame, bad *rpcError) {
		refuse(ctx, s.opt.Caller, executor.Call{Principal: localPrincipal(nil), Origin: decision.OriginMCPStdio}, f, bad)
	}
	client := &watched{refused: lines.refused, Transport: &mcp.IOTransport{
		Reader: pr, Writer: lines, MaxLineLength: -1, // feed has a limit
	}}
	d.begin = client.begin
	d.expect = func(_ *mcp.RequestExtra, st stand) bool { return lines.expect(st) }
	entrance := s.entrance(d)
	defer s.entrances.Delete(entrance)
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	go s.follow(following)
	session, err := entrance.Connect(ctx, client, nil)
	if err != nil {
		return err
	}
	feed := make(chan error, 1)
	go func() {
		err := lines.feed(in, pw, int(s.opt.MaxBodyBytes))
		inEnded()
		feed <- err
	}()

	over := make(chan struct{})
	go func() {
		_ = session.Wait()
		close(over)
	}()

	var inErr error
	select {
	case inErr = <-feed:
	case <-over: // out is broken
	case <-ctx.Done():
		lines.close()
	}
	if !lines.wait(s.opt.DrainTimeout) {
		stopNow()
		lines.wait(settleTime)
	}
	_ = pw.Close()
	stopNow()
	_ = session.Close()
	return errors.Join(inErr, lines.failure())
}

// lineWriter is the one writer of the client's side: the library's answers
// and our refusals of frames. It knows which calls are unanswered.
type lineWriter struct {
	mu     sync.Mutex
	out    io.Writer
	err    error
	closed bool            // no new calls
	open   map[string]bool // unanswered calls, and whether somebody waits for the answer
	owed   int             // of them somebody waits for
	empty  chan struct{}
	// refused puts a call on record that the protocol refused.
	refused func(frame, *rpcError)
	// waiting are what answers leave out that are on their way.
	waiting []stand
}

// maxWaiting bounds the lists that are on their way at a time.
const maxWaiting = 16

// expect makes a later Write replace a word; false when too many are expected.
func (l *lineWriter) expect(s stand) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxWaiting {
		return false
	}
	l.waiting = append(l.waiting, s)
	return true
}

// feed passes the valid lines of in on and answers the others itself.
func (l *lineWriter) feed(in io.Reader, to io.Writer, limit int) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(r, limit)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if tooLong {
			l.refuse(frame{}, &rpcError{code: codeInvalidRequest, message: "the message is too long"})
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			if werr := l.pass(line, to); werr != nil {
				return nil // the session has ended
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (l *lineWriter) pass(line []byte, to io.Writer) error {
	f, bad := parseFrame(line)
	if bad == nil {
		bad = badVersion(f, "")
	}
	if bad == nil {
		bad = f.check()
	}
	if bad == nil && f.isCall() && !l.begin(f.key(), f.method != methodListen) {
		bad = &rpcError{code: codeInvalidRequest, message: "this id is in use, or the server is stopping"}
	}
	if bad != nil {
		if f = made(f, line); f.method == methodCall && l.refused != nil {
			l.refused(f, bad)
		}
		if !f.silent {
			l.refuse(f, bad)
		}
		return nil
	}
	_, err := to.Write(append(line, '\n'))
	return err
}

// readLine reads up to the newline; a line beyond limit is skipped.
func readLine(r *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
			if len(line) > limit+1 {
				line, tooLong = nil, true
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// begin notes a call; owed is false for one that lasts as long as its client
// wants, and that nobody waits for at the end. It is false when the call cannot
// be taken.
func (l *lineWriter) begin(key string, owed bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, dup := l.open[key]; dup || l.closed {
		return false
	}
	if l.open[key] = owed; owed {
		l.owed++
	}
	return true
}

func (l *lineWriter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *lineWriter) refuse(f frame, e *rpcError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(append(e.answer(f), '\n'))
}

// Write gets one line from the library.
func (l *lineWriter) Write(line []byte) (int, error) {
	f, bad := parseFrame(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer(line)
	if bad == nil && f.isResponse() {
		if l.open[f.key()] {
			l.owed--
		}
		delete(l.open, f.key())
		if l.owed == 0 && l.empty != nil {
			close(l.empty)
			l.empty = nil
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return len(line), nil
}

// Close is part of the library's transport; out belongs to the caller.
func (l *lineWriter) Close() error { return nil }

// answer writes a message of the library; l.mu is held.
func (l *lineWriter) answer(line []byte) {
	for i, s := range l.waiting {
		if l.err != nil || !bytes.Contains(line, s.word) {
			continue
		}
		_, _, l.err = s.writeTo(l.out, line)
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.write(line)
}

func (l *lineWriter) write(b []byte) {
	if l.err == nil {
		_, l.err = l.out.Write(b)
	}
}

func (l *lineWriter) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// wait waits until every call is answered; false when limit passed before.
func (l *lineWriter) wait(limit time.Duration) bool {
	l.mu.Lock()
	if l.owed == 0 || l.err != nil {
		l.mu.Unlock()
		return true
	}
	if l.empty == nil {
		l.empty = make(chan struct{})
	}
	empty := l.empty
	l.mu.Unlock()
	return within(limit, empty)
}
