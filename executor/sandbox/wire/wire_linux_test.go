package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestConversation(t *testing.T) {
	near, far, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	agent := NewConn(far)
	defer near.Close()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	sent := Message{Kind: KindConfig, Config: &Config{Version: Version, Env: []string{"A=\x00ü"}, Filter: Program{{Op: 0x15, Jt: 1, Jf: 2, K: 0xfffffffe}, {Op: 6}}}}
	if err := near.Send(sent, out); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	got, files, err := agent.Receive()
	if err != nil || len(files) != 1 || !reflect.DeepEqual(got, sent) {
		t.Fatalf("%v, %d files, %+v", err, len(files), got)
	}
	if flags, err := unix.FcntlInt(files[0].Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Error("a descriptor that came is inherited by what is executed")
	}
	if _, err := files[0].WriteString("through"); err != nil {
		t.Error(err)
	}
	_ = files[0].Close()
	if b, err := io.ReadAll(in); err != nil || string(b) != "through" {
		t.Errorf("%v, %q", err, b)
	}

	large := Message{Kind: KindExec, Exec: &Exec{Argv: []string{strings.Repeat("x", MaxMessage)}}}
	if err := near.Send(large); !errors.Is(err, syscall.EMSGSIZE) {
		t.Errorf("a message that is too large: %v", err)
	}
	_ = near.SetDeadline(time.Now())
	if _, _, err := near.Receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	_ = near.SetDeadline(time.Time{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := agent.Send(Message{Kind: KindDone}); err != nil {
				t.Error(err)
			}
		})
	}
	for range 20 {
		if m, _, err := near.Receive(); err != nil || m.Kind != KindDone {
			t.Errorf("%v, %+v", err, m)
		}
	}
	all.Wait()
	if err := agent.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := near.Receive(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if err := near.Send(Message{Kind: KindReset}); err == nil {
		t.Error("a message to nobody was sent")
	}
}

// FuzzReceive sends what no agent of ours would.
func FuzzReceive(f *testing.F) {
	for _, m := range []Message{{Kind: KindReady, Ready: &Ready{}}, {Kind: KindExited, Exited: &Exited{Code: 1}}, {Kind: KindConfig, Config: &Config{Filter: Program{{Op: 1}}}}} {
		b, _ := json.Marshal(m)
		f.Add(b)
	}
	f.Add([]byte(`{"kind":"config","config":{"filter":"AAAA"}}`))
	f.Fuzz(func(t *testing.T, packet []byte) {
		near, far, err := Pair()
		if err != nil {
			t.Skip(err)
		}
		defer near.Close()
		defer far.Close()
		if err := unix.Send(int(far.Fd()), packet, unix.MSG_DONTWAIT); err != nil || len(packet) == 0 {
			return
		}
		m, files, err := near.Receive()
		if len(files) > 0 {
			t.Error("descriptors that nobody sent")
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(again, &back); err != nil || !bytes.Equal(mustJSON(back), again) {
			t.Errorf("%v: %s became %s", err, again, mustJSON(back))
		}
	})
}

func mustJSON(m Message) []byte {
	b, _ := json.Marshal(m)
	return b
}
