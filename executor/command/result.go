package command

import (
	"strings"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// result bounds and masks what a command wrote, in the one place that masks.
func (r *Runner) result(res sandbox.Result) worker.CommandResult {
	whole := !res.Truncated && !res.TimedOut && res.LimitHit == ""
	text := func(b []byte) string {
		s := strings.ToValidUTF8(string(b), "\ufffd")
		if whole {
			return r.o.Mask.String(s)
		}
		return r.o.Mask.Clipped(s)
	}
	out := worker.CommandResult{
		ExitCode: res.ExitCode, Stdout: text(res.Stdout), Stderr: text(res.Stderr),
		TimedOut: res.TimedOut, Truncated: res.Truncated, LimitHit: string(res.LimitHit),
	}
	if shorten(&out, r.o.Policy.MaxOutputBytes) {
		if out.Truncated = true; out.LimitHit == "" {
			out.LimitHit = string(sandbox.Output)
		}
	}
	return out
}

// besides is what a result takes beside the two streams, as JSON.
const besides = 1 << 10

// shorten cuts the streams of r to what a result of limit bytes of JSON has room
// for, and reports whether it had to: code that gives back what a command wrote
// does not fail for how much that was. Standard error keeps a quarter at least.
func shorten(r *worker.CommandResult, limit int64) (cut bool) {
	room := int(limit - min(besides, limit/4))
	if limit <= 0 || len(r.Stdout)+len(r.Stderr) <= room/mostEscaped {
		return false
	}
	out, errs := fitting(r.Stdout, room), fitting(r.Stderr, room)
	if out.whole && errs.whole && out.size+errs.size <= room {
		return false
	}
	if errs.size > room/4 {
		errs = fitting(r.Stderr, max(room/4, room-out.size))
	}
	out = fitting(r.Stdout, room-errs.size)
	r.Stdout, r.Stderr = r.Stdout[:out.bytes], r.Stderr[:errs.bytes]
	return true
}

// mostEscaped is how many bytes of JSON one byte may take.
const mostEscaped = len(`\u0000`)

// fit is the beginning of a text that has room.
type fit struct {
	bytes, size int // of the text, and of its JSON
	whole       bool
}

func fitting(text string, room int) (f fit) {
	for i, c := range text {
		size := utf8.RuneLen(c)
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			size = 2
		case c < ' ':
			size = mostEscaped
		}
		if f.size+size > room {
			f.bytes = i
			return f
		}
		f.size += size
	}
	f.bytes, f.whole = len(text), true
	return f
}
