package stream

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func pair(t *testing.T) (*Mux, *Mux) {
	t.Helper()
	a, b := net.Pipe()
	near, far := New(a, true), New(b, false)
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestMessagesBringChannels(t *testing.T) {
	near, far := pair(t)
	go func() {
		text, ch, err := far.Receive()
		if err != nil || string(text) != "run" || len(ch) != 2 {
			t.Errorf("received %q, %d channels, %v", text, len(ch), err)
			far.Close()
			return
		}
		in, err := io.ReadAll(ch[0])
		if err != nil {
			t.Error(err)
		}
		_, _ = ch[1].Write(bytes.ToUpper(in))
		_ = ch[0].Close()
		_ = ch[1].Close()
		if _, err := far.Send([]byte("ran"), 0); err != nil {
			t.Error(err)
		}
	}()
	ch, err := near.Send([]byte("run"), 2)
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("abc", window)
	go func() {
		_, _ = ch[0].Write([]byte(big))
		_ = ch[0].CloseWrite()
	}()
	out, err := io.ReadAll(ch[1])
	if err != nil || string(out) != strings.ToUpper(big) {
		t.Fatalf("%d bytes of %d, %v", len(out), len(big), err)
	}
	if text, _, err := near.Receive(); string(text) != "ran" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	for _, c := range ch {
		_ = c.Close()
	}
	near.mu.Lock()
	defer near.mu.Unlock()
	if len(near.channels) != 0 {
		t.Errorf("%d channels are remembered after both ends closed them", len(near.channels))
	}
}

// TestOneStreamDoesNotBlockOthers leaves one channel unread and full.
func TestOneStreamDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pair(t)
		ch, err := near.Send(nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		_, theirs, err := far.Receive()
		if err != nil {
			t.Fatal(err)
		}
		stuck := make(chan error, 1)
		go func() {
			_, err := ch[0].Write(make([]byte, 2*window))
			stuck <- err
		}()
		synctest.Wait()
		want := make([]byte, 10*window)
		_, _ = rand.Read(want)
		go func() {
			_, _ = ch[1].Write(want)
			_ = ch[1].CloseWrite()
		}()
		got, err := io.ReadAll(theirs[1])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		synctest.Wait()
		select {
		case err := <-stuck:
			t.Errorf("a write went beyond the window: %v", err)
		default:
		}
		theirs[0].mu.Lock()
		held := len(theirs[0].arrived)
		theirs[0].mu.Unlock()
		if held != window {
			t.Errorf("%d bytes are held for a reader that does not read; the window is %d", held, window)
		}
		_ = theirs[0].CloseRead()
		if err := <-stuck; !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the writer to a reader that left got %v", err)
		}
	})
}

func TestEndReachesEveryone(t *testing.T) {
	for _, whose := range []string{"near", "far"} {
		synctest.Test(t, func(t *testing.T) {
			near, far := pair(t)
			ch, err := near.Send(nil, 1)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := io.ReadAll(ch[0]); err == nil {
					t.Error("a channel that broke off looks like one that ended")
				}
			})
			wg.Go(func() {
				if _, _, err := near.Receive(); err == nil {
					t.Error("Receive gave a message")
				}
			})
			synctest.Wait()
			if whose == "near" {
				near.Close()
			} else {
				far.Close()
			}
			wg.Wait()
			<-near.Done()
			<-far.Done()
			if _, err := near.Send(nil, 0); err == nil {
				t.Error("Send works after the end")
			}
			if _, err := ch[0].Write([]byte("x")); err == nil {
				t.Error("Write works after the end")
			}
		})
	}
}

// script is a stream that says what it says and takes everything.
type script struct{ io.Reader }

func (script) Write(p []byte) (int, error) { return len(p), nil }
func (script) Close() error                { return nil }

func TestHostileFrames(t *testing.T) {
	msg := func(ids ...uint32) []byte {
		var ch []*Channel
		for _, id := range ids {
			ch = append(ch, &Channel{id: id})
		}
		return appendFrame(nil, kindMessage, 0, packMessage([]byte("{}"), ch))
	}
	then := func(first []byte, k kind, id uint32, body []byte) []byte { return appendFrame(first, k, id, body) }
	full := msg(2)
	for range window/maxData + 1 {
		full = then(full, kindData, 2, make([]byte, maxData))
	}
	var flood, crowd []byte
	for i := range uint32(maxWaiting + 1) {
		flood = append(flood, msg()...)
		crowd = append(crowd, msg(2+i*32, 4+i*32, 6+i*32, 8+i*32, 10+i*32, 12+i*32, 14+i*32, 16+i*32, 18+i*32, 20+i*32, 22+i*32, 24+i*32, 26+i*32, 28+i*32, 30+i*32, 32+i*32)...)
	}
	for name, raw := range map[string][]byte{
		"kind":                   {'Z', 0, 0, 0, 1, 0, 0, 0},
		"message on a channel":   {'M', 0, 0, 0, 1, 0, 0, 1, 0},
		"data on no channel":     {'D', 0, 0, 0, 0, 0, 0, 1, 0},
		"empty message":          {'M', 0, 0, 0, 0, 0, 0, 0},
		"message of 16 MiB":      {'M', 0, 0, 0, 0, 255, 255, 255},
		"data beyond the frame":  {'D', 0, 0, 0, 2, 0, 255, 255},
		"17 channels":            {'M', 0, 0, 0, 0, 0, 0, 1, 17},
		"channels that are cut":  {'M', 0, 0, 0, 0, 0, 0, 2, 1, 0},
		"end with a body":        {'C', 0, 0, 0, 2, 0, 0, 1, 0},
		"credit of 3 bytes":      {'W', 0, 0, 0, 2, 0, 0, 3, 0, 0, 0},
		"data of unknown":        then(nil, kindData, 2, []byte("x")),
		"end of unknown":         then(nil, kindEnd, 7, nil),
		"credit of never opened": then(nil, kindCredit, 9, []byte{0, 0, 0, 1}),
		"channel of ours":        msg(3),
		"channel 0":              msg(0),
		"channel twice":          msg(2, 2),
		"channel backwards":      append(msg(4), msg(2)...),
		"beyond the window":      full,
		"credit from nowhere":    then(msg(2), kindCredit, 2, []byte{0, 0, 0, 1}),
		"credit that overflows":  then(msg(2), kindCredit, 2, []byte{255, 255, 255, 255}),
		"data after the end":     then(then(msg(2), kindEnd, 2, nil), kindData, 2, []byte("x")),
		"two ends":               then(then(msg(2), kindEnd, 2, nil), kindEnd, 2, nil),
		"flood of messages":      flood,
		"crowd of channels":      crowd,
	} {
		t.Run(name, func(t *testing.T) {
			m := New(script{bytes.NewReader(raw)}, true)
			<-m.Done()
			m.mu.Lock()
			err := m.err
			m.mu.Unlock()
			if !errors.Is(err, ErrFrame) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestSendBounds(t *testing.T) {
	near, far := pair(t)
	go func() {
		for {
			if _, _, err := far.Receive(); err != nil {
				return
			}
			_, _ = far.Send(nil, 0)
		}
	}()
	if _, err := near.Send(make([]byte, MaxMessage+1), 0); err == nil {
		t.Error("a message beyond the bound was sent")
	}
	if _, err := near.Send(nil, maxInMessage+1); err == nil {
		t.Error("too many channels were sent")
	}
	for range maxChannels / maxInMessage {
		if _, err := near.Send(nil, maxInMessage); err != nil {
			t.Fatal(err)
		}
		if _, _, err := near.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := near.Send(nil, 1); err == nil {
		t.Error("more channels were opened than the other end takes")
	}
	select {
	case <-near.Done():
		t.Error("it ended the conversation")
	default:
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		a, b := net.Pipe()
		near, far := New(a, true), New(b, false)
		_, _ = near.Send(nil, 1)
		near.Close()
		<-far.Done()
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// FuzzStream feeds bytes of another end; nothing panics, and what is held
// stays within the windows.
func FuzzStream(f *testing.F) {
	f.Add([]byte{'M', 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 2, 'D', 0, 0, 0, 2, 0, 0, 1, 'x', 'C', 0, 0, 0, 2, 0, 0, 0})
	f.Add([]byte{'W', 0, 0, 0, 2, 0, 0, 4, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := New(script{bytes.NewReader(raw)}, true)
		<-m.Done()
		for {
			_, ch, err := m.Receive()
			if err != nil {
				return
			}
			for _, c := range ch {
				if len(c.arrived) > window {
					t.Errorf("%d bytes are held", len(c.arrived))
				}
				_ = c.Close()
			}
		}
	})
}

// FuzzFrame reads back what it wrote.
func FuzzFrame(f *testing.F) {
	f.Add(byte('D'), uint32(2), []byte("abc"))
	f.Fuzz(func(t *testing.T, k byte, id uint32, body []byte) {
		if len(body) > maxData {
			return
		}
		raw := appendFrame(nil, kind(k), id, body)
		k2, id2, body2, err := readFrame(bytes.NewReader(raw))
		if err == nil && (k2 != kind(k) || id2 != id || !bytes.Equal(body2, body)) {
			t.Errorf("%q %d %q came back as %q %d %q", k, id, body, k2, id2, body2)
		}
	})
}
