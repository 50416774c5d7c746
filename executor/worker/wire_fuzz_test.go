package worker

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzFrames holds that a stream of any bytes is read as frames, or ends in an
// error of its own, without a panic and without memory for what a length only
// promises; and that a frame which was read can be sent and read again.
func FuzzFrames(f *testing.F) {
	var valid bytes.Buffer
	c := NewConn(&valid)
	_ = c.Send(KindHello, 0, Hello{Build: "b", PID: 1}, nil)
	_ = c.Send(KindRequest, 7, BrokerRequest{Op: OpFetch}, []byte(`["https://a.example/"]`))
	_ = c.Send(KindReply, 1, Reply{Logs: []LogLine{{Level: "log", Text: "x"}}}, []byte(`{"a":1}`))
	f.Add(valid.Bytes())
	f.Add([]byte("\xff\xff\xff\xffR\x00\x00\x00\x01\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x09R\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Add([]byte("\x01\x00\x00\x00R\x00\x00\x00\x01\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := NewConn(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), io.Discard})
		for {
			frame, err := in.Receive()
			if err != nil {
				if !errors.Is(err, ErrFrame) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("an error that nobody knows: %v", err)
				}
				return
			}
			if len(frame.Header)+len(frame.Body) > len(b) {
				t.Fatalf("%d bytes came out of %d", len(frame.Header)+len(frame.Body), len(b))
			}
			for _, v := range []any{new(Hello), new(Reply), new(BrokerRequest)} {
				if frame.Decode(v) != nil {
					continue
				}
				var again bytes.Buffer
				if err := NewConn(&again).Send(frame.Kind, frame.ID, v, frame.Body); err != nil {
					t.Fatalf("%s was read and cannot be sent: %v", frame.Header, err)
				}
				back, err := NewConn(&again).Receive()
				if err != nil || back.Kind != frame.Kind || back.ID != frame.ID || !bytes.Equal(back.Body, frame.Body) {
					t.Fatalf("%s came back as %v, %v", frame.Header, back, err)
				}
				if err := back.Decode(v); err != nil {
					t.Fatalf("%s came back as %s: %v", frame.Header, back.Header, err)
				}
			}
		}
	})
}
