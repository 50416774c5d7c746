// Package slowbody is an HTTP client that announces a body and does not send
// it, or not all of it: what holds a server's places and connections. Tests
// import it.
package slowbody

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// Send opens a connection to address, host:port, and writes text to it, the
// beginning of a request. The connection is closed when the test ends. Failing
// to connect ends the test; a write that fails does not, since the server may
// have closed by then.
func Send(t testing.TB, address, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, text)
	return conn
}

// Held is how long a server kept a connection whose request did not come to its
// end.
type Held struct {
	Answer string        // all that the server wrote
	Took   time.Duration // until the server closed, or until limit
	Closed bool          // the server closed
}

// Hold sends text as Send does and waits until the server closes the
// connection, limit at the longest. Many goroutines may call it; one that
// cannot connect fails the test and gives the zero Held.
func Hold(t testing.TB, address, text string, limit time.Duration) Held {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return Held{}
	}
	defer conn.Close()
	begun := time.Now()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Error(err)
	}
	_ = conn.SetReadDeadline(begun.Add(limit))
	raw, err := io.ReadAll(conn)
	return Held{string(raw), time.Since(begun), !errors.Is(err, os.ErrDeadlineExceeded)}
}
