package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// A log is one file that grows and, in the folder segments of its state, the
// files that it was before. Each is named by the seq of its first line, plain
// until it is compressed. The chain goes through all of them; the first line
// of every file but the first is an event of kind segment, which says what
// came before it.
const (
	segmentsDir = "segments"
	segmentExt  = ".ndjson"
	gzipExt     = ".gz"
	nextName    = ".next" // the file that is to follow, while it is made
	seqDigits   = 20

	kindSegment = "segment"
)

// segment is a closed file.
type segment struct {
	first uint64
	path  string // without gzipExt
}

func segmentName(first uint64) string {
	return fmt.Sprintf("%0*d%s", seqDigits, first, segmentExt)
}

// stateOf is the folder of what goes with the log at path, as layout gives it
// to the writer, for readers that know the path alone.
func stateOf(path string) string {
	own := path + ".d"
	if st, err := os.Stat(own); err == nil && st.IsDir() || filepath.Base(path) != FileName {
		return own
	}
	return filepath.Dir(path)
}

// closedSegments lists the closed files of a log, the oldest first. A file
// that was linked to its place and is still the one that grows, after a crash
// in a rotation, is not among them.
func closedSegments(stateDir, active string) ([]segment, error) {
	dir := filepath.Join(stateDir, segmentsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	growing, _ := os.Stat(active)
	var out []segment
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), gzipExt)
		digits, ok := strings.CutSuffix(name, segmentExt)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || len(digits) != seqDigits {
			continue
		}
		if st, err := e.Info(); err == nil && growing != nil && os.SameFile(st, growing) {
			continue
		}
		out = append(out, segment{first: first, path: filepath.Join(dir, name)})
	}
	slices.SortFunc(out, func(a, b segment) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(out), nil // a plain file and its compressed copy are one
}

// previous is what a segment record says of the file before its own.
type previous struct {
	File  string `json:"file"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Head  string `json:"head"`
	Bytes int64  `json:"bytes"`
}

// opening is the detail of a segment record.
type opening struct {
	Previous previous    `json:"previous"`
	Offset   int64       `json:"offset"` // of the first byte of this file in the log
	Tree     []tlog.Hash `json:"tree"`   // right edge of the Merkle tree over all lines before; null when it is not known
	Lost     bool        `json:"lost"`   // the file that grew was gone at a start: lines after previous may be missing
}

func (o opening) event() Event {
	var tree any
	if o.Tree != nil {
		tree = o.Tree
	}
	return Event{Kind: kindSegment, Detail: map[string]any{"previous": o.Previous, "offset": o.Offset, "tree": tree, "lost": o.Lost}}
}

// origin is what the first line of a file says of its place in the log.
type origin struct {
	head  Head
	began time.Time
	base  int64            // offset of the file in the log; -1 when it is not said
	tree  *checkpoint.Tree // over all lines before; nil when it is not said
	opens *opening         // of a segment record
}

// originOf reads a first line. ok is false when it is no record.
func originOf(line []byte) (o origin, ok bool) {
	if o.head, ok = parseHead(line); !ok {
		return origin{base: -1}, false
	}
	o.began, _ = time.Parse(timeLayout, o.head.Time)
	o.base = -1
	if o.head.Seq == 1 {
		o.base, o.tree = 0, &checkpoint.Tree{}
		return o, true
	}
	if o.opens = openingOf(line, o.head); o.opens != nil {
		o.base = o.opens.Offset
		if t, ok := checkpoint.Resume(int64(o.opens.Previous.Last), o.opens.Tree); ok {
			o.tree = t
		}
	}
	return o, true
}

// openingOf gives the detail of a segment record, nil of any other line.
func openingOf(line []byte, h Head) *opening {
	if h.Phase != PhaseEvent {
		return nil
	}
	var r struct {
		Kind   string  `json:"kind"`
		Detail opening `json:"detail"`
	}
	if json.Unmarshal(line, &r) != nil || r.Kind != kindSegment || r.Detail.Previous.Last+1 != h.Seq ||
		r.Detail.Previous.Head != h.Prev || r.Detail.Offset < 0 {
		return nil
	}
	return &r.Detail
}

// firstLine gives the first whole line of r, nil when there is none.
func firstLine(r io.Reader) ([]byte, error) {
	l, err := newLineReader(r).next()
	if err == io.EOF || err == nil && (l.torn || l.tooLong) {
		return nil, nil
	}
	return l.bytes, err
}
