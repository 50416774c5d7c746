package runner

import "encoding/binary"

// idCode is the section with the bodies of functions.
const idCode = 10

// skeleton is a module with the bodies of its functions taken out: each traps
// at once. What is left is all that the runtime needs of a module whose code
// it has compiled, and takes no time to check. ok is false where text is not
// in the form that a module has.
//
// The name under which the runtime keeps code is made of the module. So the
// compiler keeps the code of a whole module under the name of its skeleton,
// and ready looks there. Would the runtime ever find nothing under that name it
// would compile traps, put them into the cache, which is read-only, and fail.
func skeleton(text []byte) (out []byte, ok bool) {
	if len(text) < 8 {
		return nil, false
	}
	out = append(out, text[:8]...)
	for rest := text[8:]; len(rest) > 0; {
		size, n := uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, false
		}
		whole := rest[:1+n+int(size)]
		if rest = rest[len(whole):]; whole[0] != idCode {
			out = append(out, whole...)
			continue
		}
		count, n := uvarint(whole[1+n:])
		if n <= 0 || count > size { // each has a byte at least
			return nil, false
		}
		section := binary.AppendUvarint(nil, count)
		for range count {
			// Three bytes: no locals, unreachable, end.
			section = append(section, 3, 0, 0x00, 0x0b)
		}
		out = append(out, idCode)
		out = binary.AppendUvarint(out, uint64(len(section)))
		out = append(out, section...)
	}
	return out, true
}

// uvarint reads a number of 32 bits at most; the lengths of a module may have
// bytes that say nothing, as long as there are no more than five.
func uvarint(b []byte) (v uint64, n int) {
	if v, n = binary.Uvarint(b); n > 5 || v > 1<<32-1 {
		return 0, -1
	}
	return v, n
}
