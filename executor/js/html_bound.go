package js

import (
	"errors"
	"io"
	"reflect"
	"strings"

	"golang.org/x/net/html"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	maxHTMLNodes    = 1_000_000 // of one document, as estimated while it is read
	maxHTMLText     = 16 << 20  // bytes of one text or markup that is given out
	maxHTMLElements = 200_000   // of one list
)

var (
	errNodes = errors.New("more nodes than a document may have")
	errEnded = errors.New("the call has ended")
)

// feeder hands a document to the parser in parts and watches how it grows.
// The parser itself has no bound: it opens formatting elements that a page
// left open anew in each block that follows, so that a few megabytes can
// become billions of nodes. How many it would open is the one thing that has
// to be known, and the parser keeps it to itself; see watch.
type feeder struct {
	s     *session
	rest  string
	nodes int // estimate so far
	open  func() int
	last  struct{ nodes, open int } // of the part before
	err   error
}

// markup is how many tags a part may begin.
const markup = 16

func (f *feeder) Read(p []byte) (int, error) {
	now := f.open()
	f.nodes += (f.last.nodes + 1) * (1 + max(f.last.open, now))
	switch {
	case now < 0 || f.nodes > maxHTMLNodes:
		f.err = errNodes
	case f.s.ctx != nil && f.s.ctx.Err() != nil:
		f.err = errEnded
	}
	if f.err != nil {
		return 0, f.err
	}
	if f.rest == "" {
		return 0, io.EOF
	}
	part := f.rest[:min(len(f.rest), len(p))]
	f.last.nodes, f.last.open = 0, now
	for i, tags := 0, 0; i < len(part); i++ {
		if part[i] != '<' {
			continue
		}
		if tags++; tags > markup {
			part = part[:i]
			break
		}
		// An element and the text behind it; behind an end tag the text alone.
		f.last.nodes++
		if i+1 < len(f.rest) && (f.rest[i+1]|0x20 >= 'a' && f.rest[i+1]|0x20 <= 'z') {
			f.last.nodes++
		}
	}
	f.rest = f.rest[len(part):]
	return copy(p, part), nil
}

// watch makes a parser option that lends the list of formatting elements to
// the feeder. The field is private: should a later version of the library
// name it otherwise, every document is refused, and the tests say so.
func (f *feeder) watch() html.ParseOption {
	return spy(html.ParseOptionEnableScripting(true), func(parser any) {
		list := reflect.ValueOf(parser)
		if list.Kind() == reflect.Pointer && list.Elem().Kind() == reflect.Struct {
			list = list.Elem().FieldByName("afe")
		}
		if list.IsValid() && list.Kind() == reflect.Slice {
			f.open = func() int { return elementsIn(list) }
		}
	})
}

// elementsIn counts the elements of the list, which also holds the marks of
// scopes; those are never opened anew.
func elementsIn(list reflect.Value) (n int) {
	for i := range list.Len() {
		kind := reflect.Indirect(list.Index(i)).FieldByName("Type")
		if !kind.CanUint() || html.NodeType(kind.Uint()) == html.ElementNode {
			n++
		}
	}
	return n
}

// spy is an option that also shows what it is applied to.
func spy[T any](option func(T), see func(any)) func(T) {
	return func(t T) {
		see(t)
		option(t)
	}
}

func (d *htmlDoc) feed(text string) *feeder {
	return &feeder{s: d.s, rest: text, nodes: d.nodes, open: func() int { return -1 }}
}

// fed takes what was read into account, and names a failure.
func (d *htmlDoc) fed(f *feeder, err error) {
	s := d.s
	if d.nodes = f.nodes; err == nil {
		return
	}
	switch f.err {
	case errNodes:
		s.refuse(fault.InvalidInput, parserHelper, "input-too-large", "[safety.parser] the document would have more than a million nodes")
	case errEnded:
		d.ended()
	}
	s.refuse(fault.HelperRuntime, parserHelper, "parse-failed", "[safety.parser] the document cannot be parsed: "+clip(err.Error(), 200))
}

func (d *htmlDoc) ended() {
	d.s.refuse(fault.HelperRuntime, parserHelper, "interrupted", "[safety.parser] the call has ended")
}

// tick counts work that the engine does not see, and ends it with the call.
func (d *htmlDoc) tick() {
	if d.work++; d.work%1024 == 0 && d.s.ctx != nil && d.s.ctx.Err() != nil {
		d.ended()
	}
}

// output is text that is given out. Nested elements repeat what they hold, so
// that a small document can have a huge text.
type output struct {
	d *htmlDoc
	strings.Builder
}

func (o *output) room(n int) {
	if o.d.tick(); o.Len()+n > maxHTMLText {
		o.d.s.refuse(fault.HelperRuntime, parserHelper, "result-too-large", "[safety.parser] the text is larger than 16 MiB")
	}
}

// Write takes rendered markup.
func (o *output) Write(p []byte) (int, error) {
	o.room(len(p))
	return o.Builder.Write(p)
}

// WriteString takes rendered markup.
func (o *output) WriteString(p string) (int, error) {
	o.room(len(p))
	return o.Builder.WriteString(p)
}

// WriteByte takes rendered markup.
func (o *output) WriteByte(c byte) error {
	o.room(1)
	return o.Builder.WriteByte(c)
}
