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
	r := csvReader{rest: strings.TrimPrefix(text, "\ufeff"), delimiter: string(delimiter), line: 1}
	var header []string
	if opts.Header {
		record, fail := r.next()
		if fail != nil {
			return nil, fail
		}
		seen := map[string]bool{}
		for _, name := range record {
			if seen[name] {
				return nil, failed("the header has a name twice: %q", clip(name))
			}
			seen[name] = true
		}
		header = append([]string{}, record...)
	}
	w := writer{ctx: ctx}
	w.raw("[")
	for n := 0; w.fail == nil; n++ {
		record, fail := r.next()
		if fail != nil {
			return nil, fail
		}
		if record == nil {
			break
		}
		if n > 0 {
			w.raw(",")
		}
		w.record(header, opts.Header, record)
	}
	w.raw("]")
	return w.done()
}

func (w *writer) record(header []string, named bool, record []string) {
	open, shut := "[", "]"
	if named {
		open, shut = "{", "}"
		record = record[:min(len(record), len(header))]
	}
	w.raw(open)
	for i, field := range record {
		if i > 0 {
			w.raw(",")
		}
		if named {
			w.str(header[i])
			w.raw(":")
		}
		w.str(field)
	}
	w.raw(shut)
}

type csvReader struct {
	rest      string
	delimiter string
	line      int
	record    []string
}

// next reads a record, or nil at the end. The record is valid until the next
// call.
func (r *csvReader) next() ([]string, *worker.Failure) {
	for r.rest != "" && (r.rest[0] == '\n' || r.rest[0] == '\r') {
		r.endOfLine()
	}
	if r.rest == "" {
		return nil, nil
	}
	r.record = r.record[:0]
	for {
		field, fail := r.field()
		if fail != nil {
			return nil, fail
		}
		r.record = append(r.record, field)
		if strings.HasPrefix(r.rest, r.delimiter) {
			r.rest = r.rest[len(r.delimiter):]
			continue
		}
		r.endOfLine()
		return r.record, nil
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
		end := strings.IndexAny(r.rest, "\r\n")
		if end < 0 {
			end = len(r.rest)
		}
		if i := strings.Index(r.rest[:end], r.delimiter); i >= 0 {
			end = i
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
