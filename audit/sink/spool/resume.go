package spool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/toolwarrant/toolwarrant/audit/sink"
)

const (
	// resumeBytes is how much of the end of the log is looked at: more than
	// one commit of it, and than a second of records that were not synced.
	resumeBytes = 32 << 20
	// writerMax bounds the name of a writer that is kept in the state.
	writerMax = 64
)

// resume adds the lines that the last process of this spool had in the log and
// not yet here when it ended. A crash leaves the last commit so, and a power
// cut what was not synced. They are in the log, so that none is missing.
func (s *store) resume(log string, durable bool) error {
	if log == "" || s.last.Writer == "" {
		return nil
	}
	after := s.last.Seq
	if s.st.Writer == s.last.Writer { // what was counted as lost is not missing
		after = max(after, s.st.Seq)
	}
	lines, err := linesOf(log, s.last.Writer, after)
	if err != nil || len(lines) == 0 {
		return err
	}
	if err := s.append(lines, durable); err != nil && !errors.Is(err, errFull) {
		return err
	}
	if s.torn != nil {
		s.torn.Lines, s.torn.What = 0, "the last record has no end; it is taken from the log"
		s.st.Lost[lostDamaged]--
		return s.st.write(s.f)
	}
	return nil
}

// linesOf gives the lines of one writer with a seq after one, from the end of
// the log.
func linesOf(log, writer string, after int64) ([][]byte, error) {
	f, err := os.Open(log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, st.Size()-resumeBytes)
	content := make([]byte, st.Size()-from)
	n, err := f.ReadAt(content, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	content = content[:n]
	if from > 0 { // the begin of the first line is not there
		content = content[bytes.IndexByte(content, '\n')+1:]
	}
	name := []byte(`"writer":"` + writer + `"`)
	var out [][]byte
	for {
		line, rest, whole := bytes.Cut(content, []byte("\n"))
		if !whole { // torn, and set aside when the log is opened
			return out, nil
		}
		if content = rest; !bytes.Contains(line, name) {
			continue
		}
		if h, ok := sink.HeadOf(line); ok && h.Writer == writer && h.Seq > after {
			out = append(out, line)
		}
	}
}
