package audit

import (
	"context"
	"io"
	"os"
	"slices"
)

// tailBytes is how much of a log CheckTail reads: a record of any size and what
// is around it.
const tailBytes = 2 * maxLine

// CheckTail looks whether the last lines of the log are records that follow
// each other, and gives what is wrong: a start does not mend lines that somebody
// else left at the end, and goes on behind them. It reads the last 8 MiB of the
// file that grows; lines are counted from there. The error is USAGE.
func (w *Writer) CheckTail(ctx context.Context) ([]Finding, error) {
	f, err := os.Open(w.path)
	if err != nil {
		return nil, unreadable(w.path, err)
	}
	defer f.Close()
	size, err := settledSize(ctx, w.path, f)
	if err != nil {
		return nil, unreadable(w.path, err)
	}
	// One byte more: where it is the end of a line, the first line is whole.
	begin := max(0, size-tailBytes-1)
	in := newLineReader(io.NewSectionReader(f, begin, size-begin))
	v := newVerifier()
	v.file = w.path
	for n := 1; ; n++ {
		l, err := in.next()
		if err == io.EOF || err == nil && l.torn { // what is being written now
			break
		}
		if err != nil {
			return nil, unreadable(w.path, err)
		}
		if n > 1 || begin == 0 {
			v.line(n, l)
		}
	}
	// What comes before the first line is not known here.
	return slices.DeleteFunc(v.finish(false).Findings, func(f Finding) bool { return f.Kind == KindRemoved && f.Line <= 2 }), nil
}
