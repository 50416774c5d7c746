package parser

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// CSVOptions are the options of CSV.
type CSVOptions struct {
	Header    bool   // the first record names the members of the others
	Delimiter string // its first character counts; "" = comma
}

// CSV reads RFC 4180 text: an array of arrays of strings, or with Header an
// array of objects. Lines end at LF, CRLF or CR; blank ones are skipped. A
// quote inside an unquoted field is a letter. Fields beyond the header are
// dropped and missing ones are absent.
func CSV(ctx context.Context, text string, opts CSVOptions) (json.RawMessage, *worker.Failure) {
	if fail := checkInput(ctx, text); fail != nil {
		return nil, fail
	}
	delimiter := ','
	if opts.Delimiter != "" {
		delimiter, _ = utf8.DecodeRuneInString(opts.Delimiter)
	}
	if delimiter == '"' || delimiter == '\r' || delimiter == '\n' || delimiter == utf8.RuneError {
		return nil, invalid(InvalidOption, "the delimiter cannot be a quote or a line end")
	}
	r := csvReader{
		ctx: ctx, rest: strings.TrimPrefix(text, "\ufeff"), line: 1,
		delimiter: string(delimiter), ends: "\r\n" + string(delimiter),
	}
	var header []string
	if opts.Header {
		var fail *worker.Failure
		if header, fail = r.header(); fail != nil {
			return nil, fail
		}
	}
	w := writer{ctx: ctx}
	open, shut := "[", "]"
	if opts.Header {
		open, shut = "{", "}"
	}
	w.raw("[")
	for n := 0; r.more(); n++ {
		if n > 0 {
			w.raw(",")
		}
		w.raw(open)
		fail := r.record(func(i int, field string) *worker.Failure {
			if opts.Header && i >= len(header) {
				return nil
			}
			if i > 0 {
				w.raw(",")
			}
			if opts.Header {
				w.str(header[i])
				w.raw(":")
			}
			w.str(field)
			return w.fail
		})
		if fail != nil {
			return nil, fail
		}
		if w.raw(shut); w.fail != nil {
			break
		}
	}
	w.raw("]")
	return w.done()
}

// maxColumns bounds the names of a header, which are kept to the end.
const maxColumns = 16384

// header reads the first record as names; nil where there is none.
func (r *csvReader) header() (names []string, fail *worker.Failure) {
	if !r.more() {
		return nil, nil
	}
	seen := map[string]bool{}
	fail = r.record(func(_ int, name string) *worker.Failure {
		if seen[name] {
			return failed("the header has a name twice: %q", clip(name))
		}
		if len(names) == maxColumns {
			return failed("the header has more than %d names", maxColumns)
		}
		seen[name] = true
		names = append(names, name)
		return nil
	})
	return names, fail
}

type csvReader struct {
	ctx       context.Context
	rest      string
	delimiter string
	ends      string // what ends a field that is not quoted
	line      int
	fields    int // read so far
}

// more passes over blank lines, and reports whether a record follows.
func (r *csvReader) more() bool {
	for r.rest != "" && (r.rest[0] == '\n' || r.rest[0] == '\r') {
		r.endOfLine()
	}
	return r.rest != ""
}

// record reads a record and gives its fields to each, one by one, until each
// fails. They are not collected: one record can be the whole text.
func (r *csvReader) record(each func(i int, field string) *worker.Failure) *worker.Failure {
	for i := 0; ; i++ {
		field, fail := r.field()
		if fail == nil {
			fail = each(i, field)
		}
		if r.fields++; fail == nil && r.fields%4096 == 0 {
			fail = over(r.ctx)
		}
		if fail != nil {
			return fail
		}
		if !strings.HasPrefix(r.rest, r.delimiter) {
			r.endOfLine()
			return nil
		}
		r.rest = r.rest[len(r.delimiter):]
	}
}

func (r *csvReader) endOfLine() {
	switch {
	case strings.HasPrefix(r.rest, "\r\n"):
		r.rest = r.rest[2:]
	case r.rest != "":
		r.rest = r.rest[1:]
	}
	r.line++
}

// field reads up to a delimiter, a line end or the end of the text.
func (r *csvReader) field() (string, *worker.Failure) {
	if !strings.HasPrefix(r.rest, `"`) {
		end := strings.IndexAny(r.rest, r.ends) // the nearest: never further than this field
		if end < 0 {
			end = len(r.rest)
		}
		field := r.rest[:end]
		r.rest = r.rest[end:]
		return field, nil
	}
	start, from := r.line, 1
	for {
		i := strings.IndexByte(r.rest[from:], '"')
		if i < 0 {
			return "", failed("line %d: a quoted field does not end", start)
		}
		from += i + 1
		if from == len(r.rest) || r.rest[from] != '"' {
			break
		}
		from++
	}
	field := strings.ReplaceAll(r.rest[1:from-1], `""`, `"`)
	r.line += strings.Count(field, "\n")
	// White space between the closing quote and the delimiter means nothing.
	r.rest = r.rest[from:]
	for r.rest != "" && (r.rest[0] == ' ' || r.rest[0] == '\t') && !strings.HasPrefix(r.rest, r.delimiter) {
		r.rest = r.rest[1:]
	}
	if r.rest != "" && r.rest[0] != '\n' && r.rest[0] != '\r' && !strings.HasPrefix(r.rest, r.delimiter) {
		return "", failed("line %d: text follows the closing quote of a field", r.line)
	}
	return field, nil
}

// clip bounds what the text may put into a message.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}
