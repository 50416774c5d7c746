package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// A record is one line of a segment:
//
//	<crc, 8 hex digits> <number, 16 hex digits> <the line of the log>\n
//
// The checksum (CRC-32C) is over the eight bytes of the number, big endian,
// and the line. Numbers go up by one from one record to the next, over all
// segments; a segment is named after its first.
const recordHead = 8 + 1 + 16 + 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord adds a record to b.
func appendRecord(b []byte, n uint64, line []byte) []byte {
	b = fmt.Appendf(b, "%08x %016x ", sumOf(n, line), n)
	b = append(b, line...)
	return append(b, '\n')
}

func sumOf(n uint64, line []byte) uint32 {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], n)
	return crc32.Update(crc32.Checksum(number[:], castagnoli), castagnoli, line)
}

var errRecord = errors.New("not a record as it was written")

// parseRecord reads a record without its newline. line is a part of raw.
func parseRecord(raw []byte) (n uint64, line []byte, err error) {
	if len(raw) < recordHead || raw[8] != ' ' || raw[recordHead-1] != ' ' {
		return 0, nil, errRecord
	}
	sum, err := strconv.ParseUint(string(raw[:8]), 16, 32)
	if err != nil {
		return 0, nil, errRecord
	}
	if n, err = strconv.ParseUint(string(raw[9:recordHead-1]), 16, 64); err != nil {
		return 0, nil, errRecord
	}
	if line = raw[recordHead:]; sumOf(n, line) != uint32(sum) {
		return 0, nil, errRecord
	}
	return n, line, nil
}

// lastRecord finds, in the content of a segment whose first record is first,
// the number after its last, the line of that, and where its torn end begins.
func lastRecord(content []byte, first uint64) (next uint64, line []byte, whole int) {
	whole = bytes.LastIndexByte(content, '\n') + 1
	next = first
	for rest := content[:whole]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		switch n, l, err := parseRecord(rest[:end]); {
		case err != nil:
			next++ // a damaged one counts too: its number is not given twice
		case n >= next && n-next < maxLines:
			next, line = n+1, l
		}
		rest = rest[end+1:]
	}
	return next, line, whole
}

// maxLines is more than the records of one segment.
const maxLines = 1 << 32
