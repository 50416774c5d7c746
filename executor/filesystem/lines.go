package filesystem

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const (
	maxPattern = 4096   // bytes of a pattern
	maxFields  = 1024   // of one cut
	maxColumn  = 10_000 // of one cut
	checkEvery = 4096   // lines between two looks at the context
)

// lines reads a file as lines, which end at LF, CRLF or CR; an end at the end
// of the file begins no further line.
func (f *FS) lines(ctx context.Context, op, path string) ([]string, *worker.Failure) {
	text, fail := f.text(ctx, op, path)
	if fail != nil {
		return nil, fail
	}
	return splitLines(text), nil
}

func splitLines(text string) []string {
	out := make([]string, 0, strings.Count(text, "\n")+1)
	for text != "" {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return append(out, text)
		}
		out = append(out, text[:i])
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i++
		}
		text = text[i+1:]
	}
	return out
}

// LineCount counts the lines of a file.
func (f *FS) LineCount(ctx context.Context, path string) (int, *worker.Failure) {
	lines, fail := f.lines(ctx, "lineCount", path)
	return len(lines), fail
}

// Slice gives the lines from start (0-based) up to but without end; a
// negative number counts from the end, nil is the end of that side, and what
// lies outside is cut off.
func (f *FS) Slice(ctx context.Context, path string, start, end *int64) ([]string, *worker.Failure) {
	lines, fail := f.lines(ctx, "slice", path)
	if fail != nil {
		return nil, fail
	}
	n := int64(len(lines))
	bound := func(v *int64, absent int64) int64 {
		if v == nil {
			return absent
		}
		i := *v
		if i < 0 {
			i = max(i, -n) + n
		}
		return min(i, n)
	}
	from, to := bound(start, 0), bound(end, n)
	if from >= to {
		return []string{}, nil
	}
	return lines[from:to], nil
}

// GrepOptions are the options of Grep.
type GrepOptions struct {
	CaseInsensitive bool
	Numbered        bool  // "n:line", counted from 1
	Limit           int64 // lines to return; up to MaxEntries, which is also the default
}

// Grep gives the lines of a file in which pattern (RE2 syntax) matches.
func (f *FS) Grep(ctx context.Context, pattern, path string, opts GrepOptions) ([]string, *worker.Failure) {
	if pattern == "" {
		return nil, invalid(GrepPatternRequired, "a pattern is required")
	}
	re, ok := compile(pattern, opts.CaseInsensitive)
	if !ok {
		return nil, invalid(GrepInvalidPattern, "the pattern is not valid, or uses what RE2 lacks (look-around, back-references)")
	}
	lines, fail := f.lines(ctx, "grep", path)
	if fail != nil {
		return nil, fail
	}
	limit := int(min(opts.Limit, MaxEntries))
	if limit <= 0 {
		limit = MaxEntries
	}
	out := []string{}
	for i, line := range lines {
		if i%checkEvery == 0 {
			if fail := over(ctx); fail != nil {
				return nil, fail
			}
		}
		if !re.MatchString(line) {
			continue
		}
		if opts.Numbered {
			line = strconv.Itoa(i+1) + ":" + line
		}
		if out = append(out, line); len(out) == limit {
			break
		}
	}
	return out, nil
}

// compile compiles a pattern of hostile code. The length bounds the size of
// the program together with RE2's own bound on repetition.
func compile(pattern string, caseInsensitive bool) (*regexp.Regexp, bool) {
	if len(pattern) > maxPattern {
		return nil, false
	}
	if caseInsensitive {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	return re, err == nil
}

// CutOptions are the options of Cut.
type CutOptions struct {
	Fields    []int64 // columns, counted from 1, in the order wanted
	Delimiter string  // "" = TAB
	Regex     bool    // Delimiter is a pattern; fields are joined by TAB then
}

// Cut gives the wanted columns of each line, joined by the delimiter. A
// column that a line lacks is empty.
func (f *FS) Cut(ctx context.Context, path string, opts CutOptions) ([]string, *worker.Failure) {
	bad := func(c int64) bool { return c < 1 || c > maxColumn }
	if len(opts.Fields) == 0 || len(opts.Fields) > maxFields || slices.ContainsFunc(opts.Fields, bad) {
		return nil, invalid(CutFieldsRequired, "fields is required: a list of column numbers, counted from 1")
	}
	delimiter := opts.Delimiter
	if delimiter == "" {
		delimiter = "\t"
	}
	split := func(line string) []string { return strings.Split(line, delimiter) }
	if opts.Regex {
		re, ok := compile(delimiter, false)
		if !ok {
			return nil, invalid(CutInvalidDelimiter, "the delimiter is not a valid pattern")
		}
		split, delimiter = func(line string) []string { return re.Split(line, -1) }, "\t"
	}
	lines, fail := f.lines(ctx, "cut", path)
	if fail != nil {
		return nil, fail
	}
	for i, line := range lines {
		if i%checkEvery == 0 {
			if fail := over(ctx); fail != nil {
				return nil, fail
			}
		}
		columns := split(line)
		picked := make([]string, len(opts.Fields))
		for j, c := range opts.Fields {
			if int(c) <= len(columns) {
				picked[j] = columns[c-1]
			}
		}
		lines[i] = strings.Join(picked, delimiter)
	}
	return lines, nil
}

// SortOptions are the options of Sort.
type SortOptions struct {
	Reverse         bool
	Numeric         bool // by the number that the line is; other lines come last
	CaseInsensitive bool
	Unique          bool // exact repeats once
}

// Sort gives the lines of a file in order. Lines that compare equal keep
// their order.
func (f *FS) Sort(ctx context.Context, path string, opts SortOptions) ([]string, *worker.Failure) {
	lines, fail := f.lines(ctx, "sort", path)
	if fail != nil {
		return nil, fail
	}
	if opts.Unique {
		seen := make(map[string]bool, len(lines))
		lines = slices.DeleteFunc(lines, func(s string) bool {
			twice := seen[s]
			seen[s] = true
			return twice
		})
	}
	type keyed struct {
		line, key string
		num       float64
	}
	keys := make([]keyed, len(lines))
	for i, s := range lines {
		keys[i] = keyed{line: s, key: s}
		if opts.CaseInsensitive {
			keys[i].key = strings.ToLower(s)
		}
		if opts.Numeric {
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			if err != nil {
				v = math.NaN()
			}
			keys[i].num = v
		}
	}
	if fail := over(ctx); fail != nil {
		return nil, fail
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		var c int
		switch {
		case !opts.Numeric:
			c = cmp.Compare(a.key, b.key)
		case math.IsNaN(a.num) || math.IsNaN(b.num):
			return boolInt(math.IsNaN(a.num)) - boolInt(math.IsNaN(b.num))
		default:
			c = cmp.Compare(a.num, b.num)
		}
		if opts.Reverse {
			return -c
		}
		return c
	})
	for i, k := range keys {
		lines[i] = k.line
	}
	return lines, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
