package filesystem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const (
	maxLines   = 1_000_000 // of one file, for the helpers that hold them
	maxPattern = 4096      // bytes of a pattern
	maxProgram = 10_000    // instructions of a compiled pattern
	maxFields  = 1024      // of one cut
	maxColumn  = 10_000    // of one cut
	maxCut     = 16 << 20  // bytes that one cut returns
	checkEvery = 4096      // lines between two looks at the context
)

// lines reads a file as lines, which end at LF, CRLF or CR; an end at the end
// of the file begins no further line.
func (f *FS) lines(ctx context.Context, op, path string) ([]string, *worker.Failure) {
	text, fail := f.text(ctx, op, path)
	if fail != nil {
		return nil, fail
	}
	n := countLines(text)
	if n > maxLines {
		return nil, invalid(FileTooLarge, "more than a million lines: "+show(path))
	}
	out := make([]string, 0, n)
	for text != "" {
		var line string
		line, text = cutLine(text)
		out = append(out, line)
	}
	return out, nil
}

func cutLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, ""
	}
	if strings.HasPrefix(text[i:], "\r\n") {
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

func countLines(text string) (n int) {
	for ; text != ""; n++ {
		_, text = cutLine(text)
	}
	return n
}

// LineCount counts the lines of a file.
func (f *FS) LineCount(ctx context.Context, path string) (int, *worker.Failure) {
	text, fail := f.text(ctx, "lineCount", path)
	return countLines(text), fail
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
	delimiter, last := opts.Delimiter, int(slices.Max(opts.Fields))
	if delimiter == "" {
		delimiter = "\t"
	}
	// One part more than the last wanted one holds the rest of the line.
	split := func(line string) []string { return strings.SplitN(line, delimiter, last+1) }
	steps := 1
	if opts.Regex {
		p, ok := compile(delimiter, false)
		if !ok {
			return nil, invalid(CutInvalidDelimiter, "the delimiter is not a valid pattern")
		}
		split, steps, delimiter = func(line string) []string { return p.re.Split(line, last+1) }, p.size*(last+1), "\t"
	}
	lines, fail := f.lines(ctx, "cut", path)
	if fail != nil {
		return nil, fail
	}
	size, work := 0, 0
	for i, line := range lines {
		if work += steps * len(line); i%checkEvery == 0 || work > maxWork {
			if fail := over(ctx); fail != nil {
				return nil, fail
			}
			work = 0
		}
		if opts.Regex && steps*len(line) > maxWork {
			return nil, invalid(CutInvalidDelimiter, "the pattern is too costly for a line of this length")
		}
		columns := split(line)
		picked := make([]string, len(opts.Fields))
		for j, c := range opts.Fields {
			if int(c) <= len(columns) {
				picked[j] = columns[c-1]
			}
		}
		lines[i] = strings.Join(picked, delimiter)
		if size += len(lines[i]); size > maxCut {
			return nil, invalid(FileTooLarge, "the columns are larger than 16 MiB")
		}
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
