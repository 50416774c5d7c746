package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const (
	defaultLogLines = 1000
	defaultLogBytes = 8 << 10
)

// console keeps the lines of one call. The session's mutex guards it.
type console struct {
	lines            []worker.LogLine
	emitted          int64
	maxLines         int64
	maxBytes, budget int
}

func (c *console) init(l worker.Limits, total int) {
	c.maxLines, c.maxBytes, c.budget = defaultLogLines, defaultLogBytes, total
	if l.MaxLogLines > 0 {
		c.maxLines = l.MaxLogLines
	}
	if l.MaxLogBytes > 0 {
		c.maxBytes = int(min(l.MaxLogBytes, int64(total)))
	}
}

// full reports whether a further line would be dropped.
func (c *console) full() bool {
	return int64(len(c.lines)) >= c.maxLines || c.budget <= 0
}

func (c *console) add(level, text string) {
	c.emitted++
	if c.full() {
		return
	}
	text = clip(text, min(c.maxBytes, c.budget))
	c.budget -= len(text)
	c.lines = append(c.lines, worker.LogLine{Level: level, Text: text})
}

// take hands the lines out; later ones of an abandoned call are not seen.
func (c *console) take() ([]worker.LogLine, int64) {
	return append([]worker.LogLine(nil), c.lines...), c.emitted
}

func (s *session) installConsole() {
	obj := s.vm.NewObject()
	s.native.hasOwn, _ = s.callable(obj.Prototype().Get("hasOwnProperty"))
	for _, level := range []string{"log", "info", "warn", "error", "debug"} {
		s.method(obj, level, func(call goja.FunctionCall) goja.Value {
			s.mu.Lock()
			full := s.logs.full()
			s.mu.Unlock()
			text := ""
			if !full { // a dropped line is counted, not formatted
				text = s.format(call.Arguments)
			}
			s.mu.Lock()
			s.logs.add(level, text)
			s.mu.Unlock()
			return goja.Undefined()
		})
	}
	s.global("console", obj)
}

// format joins the arguments of a console call: strings as they are, errors
// as name and message, other objects as JSON.
func (s *session) format(args []goja.Value) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.Len() > s.logs.maxBytes {
			break // the line is full
		}
		b.WriteString(s.show(a, s.logs.maxBytes))
	}
	return b.String()
}
