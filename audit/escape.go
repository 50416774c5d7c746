package audit

import "encoding/binary"

// Escaped is JSON text in which the characters are escapes that encoders leave
// as they are and that terminals and readers of lines act on: DEL, the C1
// controls, line separators and what changes the direction of text. They stand
// in strings alone, so that the values stay what they are. It returns line
// itself where there is nothing to escape.
func Escaped(line []byte) []byte {
	at := nextActing(line, 0)
	if at < 0 {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	done := 0
	for ; at >= 0; at = nextActing(line, done) {
		r, n := acting(line[at:])
		out = append(append(out, line[done:at]...), '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		done = at + n
	}
	return append(out, line[done:]...)
}

const hexDigits = "0123456789abcdef"

// nextActing is where the next of those characters begins, or -1.
func nextActing(line []byte, from int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := from
	for i < len(line) {
		// Eight bytes at a time, as long as all are below DEL.
		for i+8 <= len(line) {
			w := binary.LittleEndian.Uint64(line[i:])
			if (w|(w+ones))&tops != 0 {
				break
			}
			i += 8
		}
		for end := min(i+8, len(line)); i < end; i++ {
			if line[i] >= 0x7f {
				if _, n := acting(line[i:]); n > 0 {
					return i
				}
			}
		}
	}
	return -1
}

// acting decodes one of those characters at the beginning of b; n is 0 where
// another one stands there.
func acting(b []byte) (r rune, n int) {
	switch {
	case b[0] == 0x7f:
		return 0x7f, 1
	case b[0] == 0xc2 && len(b) > 1 && b[1] < 0xa0: // U+0080 to U+009F
		return rune(b[1]), 2
	case b[0] == 0xd8 && len(b) > 1 && b[1] == 0x9c: // U+061C
		return 0x61c, 2
	case b[0] == 0xe2 && len(b) > 2 && b[1] == 0x80: // U+2000 to U+203F
		if c := b[2]; c == 0x8e || c == 0x8f || c >= 0xa8 && c <= 0xae {
			return 0x2000 + rune(c-0x80), 3
		}
	case b[0] == 0xe2 && len(b) > 2 && b[1] == 0x81: // U+2040 to U+207F
		if c := b[2]; c >= 0xa6 && c <= 0xa9 {
			return 0x2040 + rune(c-0x80), 3
		}
	}
	return 0, 0
}
