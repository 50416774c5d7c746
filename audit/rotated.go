package audit

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/toolwarrant/toolwarrant/audit/checkpoint"
)

// rotated reports whether another process rotated the log since the chain was
// here last, next being the file that has its name now: the open file is one
// of the closed segments, and a line follows its last one in the next file.
func (c *chain) rotated(next logFile) (bool, error) {
	st, err := c.f.Stat()
	if err != nil || st.Size() < c.end || !c.isClosed(st) {
		return false, err
	}
	at, err := c.placeAt(c.end, st.Size(), c.at)
	if err != nil {
		return false, err
	}
	follows := func(r io.Reader) bool {
		line, err := firstLine(r)
		if err != nil {
			return false
		}
		o, ok := originOf(line)
		return ok && o.opens != nil && o.head.Seq == at.seq+1 && o.head.Prev == hashString(at.head)
	}
	if follows(io.NewSectionReader(next, 0, 1<<62)) {
		return true, nil
	}
	s := source{path: filepath.Join(c.stateDir, segmentsDir, segmentName(at.seq+1))}
	r, err := s.open(context.Background(), false)
	if err != nil {
		return false, nil // not there
	}
	defer r.Close()
	return follows(r), nil
}

// isClosed reports whether the open file, st, is a closed segment, or was one
// and is compressed now.
func (c *chain) isClosed(st os.FileInfo) bool {
	if c.place.first == 0 {
		return false
	}
	name := filepath.Join(c.stateDir, segmentsDir, segmentName(c.place.first))
	if have, err := os.Stat(name); err == nil {
		return os.SameFile(have, st)
	}
	_, err := os.Stat(name + gzipExt)
	return err == nil
}

// baseOfSegments is the offset behind all closed segments.
func (c *chain) baseOfSegments() (int64, error) {
	_, o, err := c.afterSegments()
	return o.Offset, err
}

// afterSegments is the place behind the newest closed segment, and what a
// first line says there; the zero place without closed segments.
func (c *chain) afterSegments() (link, opening, error) {
	closed, err := closedSegments(c.stateDir, c.path)
	if err != nil || len(closed) == 0 {
		return link{}, opening{}, err
	}
	ctx := context.Background()
	var set sources
	for _, s := range closed {
		set = append(set, &source{path: s.path, first: s.first})
	}
	newest := set[len(set)-1]
	base, err := set.base(ctx, len(set)-1)
	if err != nil {
		return link{}, opening{}, err
	}
	var at link
	var tree *checkpoint.Tree
	size, err := newest.lines(ctx, 0, false, func(n int, _ int64, l rawLine) error {
		if n == 1 {
			o, _ := originOf(l.bytes)
			tree = o.tree
			at.seq = newest.first - 1
		}
		at = link{seq: at.seq + 1, head: c.hash.leaf(l.bytes)}
		if tree != nil {
			tree.Append(at.head)
		}
		return nil
	})
	o := opening{Offset: base + size,
		Previous: previous{File: segmentName(newest.first), First: newest.first, Last: at.seq, Head: hashString(at.head), Bytes: size}}
	if tree != nil {
		o.Tree = tree.Edge()
	}
	return at, o, err
}

// resume makes an empty file go on behind the closed segments, if there are
// any: the one that grew is gone, and the line that it gives says so. The
// caller holds the lock and appends it, before any other.
func (c *chain) resume() (*entry, error) {
	if c.end > 0 {
		return nil, nil
	}
	at, o, err := c.afterSegments()
	if err != nil || at.seq == 0 {
		return nil, err
	}
	o.Lost = true
	body, err := encodeEvent(c.writer, o.event(), nil)
	if err != nil {
		return nil, err
	}
	c.at = at
	return &entry{body: body, sync: true}, nil
}
