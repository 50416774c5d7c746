package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A kind says what a frame carries.
type kind byte

const (
	kindMessage kind = 'M' // channel 0: the channels of a message and its text
	kindData    kind = 'D' // bytes of a channel
	kindCredit  kind = 'W' // a number of bytes that the reader has taken
	kindEnd     kind = 'C' // the writer has no more
	kindRefuse  kind = 'R' // the reader wants no more
)

const (
	// MaxMessage bounds the text of one message.
	MaxMessage = 1 << 20
	// maxChannels bounds the channels of one message, and those that live
	// at a time.
	maxInMessage = 16
	maxChannels  = 1024
	// maxData bounds one frame of data, so that a busy channel lets the
	// others in between.
	maxData = 8 << 10
	// window is how many bytes of a channel may be under way or wait for
	// their reader.
	window = 32 << 10

	headSize = 8 // kind, channel (4, big endian), length (3)
)

// ErrFrame is what bytes that break the format give. The conversation is over
// then.
var ErrFrame = errors.New("the other end of the stream sends what is no frame, or one at the wrong time")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFrame, fmt.Sprintf(format, args...))
}

// most is the largest body of a kind; a kind that does not exist has none.
func (k kind) most() int {
	switch k {
	case kindMessage:
		return 1 + 4*maxInMessage + MaxMessage
	case kindData:
		return maxData
	case kindCredit:
		return 4
	case kindEnd, kindRefuse:
		return 0
	}
	return -1
}

// appendFrame adds one frame to b. The body fits: the callers cut it.
func appendFrame(b []byte, k kind, channel uint32, body []byte) []byte {
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint32(b, channel)
	n := len(body)
	b = append(b, byte(n>>16), byte(n>>8), byte(n))
	return append(b, body...)
}

// readFrame reads one frame. It takes memory for no more than the kind
// allows.
func readFrame(r io.Reader) (kind, uint32, []byte, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	k := kind(head[0])
	n := int(head[5])<<16 | int(head[6])<<8 | int(head[7])
	switch most := k.most(); {
	case most < 0:
		return 0, 0, nil, broken("kind %#x", head[0])
	case n > most:
		return 0, 0, nil, broken("%d bytes in a frame %q, at most %d", n, head[0], most)
	case k == kindCredit && n != 4:
		return 0, 0, nil, broken("a credit of %d bytes", n)
	}
	channel := binary.BigEndian.Uint32(head[1:])
	if (k == kindMessage) != (channel == 0) {
		return 0, 0, nil, broken("a frame %q for channel %d", head[0], channel)
	}
	if n == 0 {
		return k, channel, nil, nil
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, 0, nil, err
	}
	return k, channel, body, nil
}

// packMessage is the body of a message: how many channels, their numbers, the
// text.
func packMessage(text []byte, channels []*Channel) []byte {
	b := make([]byte, 0, 1+4*len(channels)+len(text))
	b = append(b, byte(len(channels)))
	for _, c := range channels {
		b = binary.BigEndian.AppendUint32(b, c.id)
	}
	return append(b, text...)
}

func unpackMessage(body []byte) (text []byte, channels []uint32, err error) {
	if len(body) == 0 {
		return nil, nil, broken("an empty message")
	}
	n := int(body[0])
	if n > maxInMessage || len(body) < 1+4*n {
		return nil, nil, broken("a message with %d channels in %d bytes", n, len(body))
	}
	for i := range n {
		channels = append(channels, binary.BigEndian.Uint32(body[1+4*i:]))
	}
	return body[1+4*n:], channels, nil
}
