package filesystem

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

const (
	// maxWork bounds what is matched between two looks at the context, in
	// instructions times bytes: about a second.
	maxWork = 100_000_000
	// maxShort is the longest line that is matched in one go.
	maxShort = 4096
)

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
	p, ok := compile(pattern, opts.CaseInsensitive)
	if !ok {
		return nil, invalid(GrepInvalidPattern, "the pattern is not valid, is too large, or uses what RE2 lacks (look-around, back-references)")
	}
	lines, fail := f.lines(ctx, "grep", path)
	if fail != nil {
		return nil, fail
	}
	limit := int(min(opts.Limit, MaxEntries))
	if limit <= 0 {
		limit = MaxEntries
	}
	out, work := []string{}, 0
	for i, line := range lines {
		if work += p.size * len(line); i%checkEvery == 0 || work > maxWork {
			if fail := over(ctx); fail != nil {
				return nil, fail
			}
			work = 0
		}
		if !p.match(ctx, line) {
			continue
		}
		if opts.Numbered {
			line = strconv.Itoa(i+1) + ":" + line
		}
		if out = append(out, line); len(out) == limit {
			break
		}
	}
	// A match that the end of the call cut short may have missed.
	if fail := over(ctx); fail != nil {
		return nil, fail
	}
	return out, nil
}

// pattern is a compiled pattern of hostile code. RE2 takes time in proportion
// to its size times the text: both are bounded.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions
}

func compile(text string, caseInsensitive bool) (pattern, bool) {
	if len(text) > maxPattern {
		return pattern{}, false
	}
	if caseInsensitive {
		text = "(?i)" + text
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, false
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return pattern{}, false
	}
	re, err := regexp.Compile(text)
	return pattern{re, len(prog.Inst)}, err == nil
}

// match matches one line. A long line is fed to the pattern, so that the end
// of the call ends it.
func (p pattern) match(ctx context.Context, line string) bool {
	if len(line) <= maxShort {
		return p.re.MatchString(line)
	}
	return p.re.MatchReader(&feed{ctx: ctx, r: strings.NewReader(line)})
}

// feed is text that ends with the call.
type feed struct {
	ctx context.Context
	r   *strings.Reader
	n   int
}

// ReadRune reads one letter.
func (f *feed) ReadRune() (rune, int, error) {
	if f.n++; f.n%256 == 0 && f.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return f.r.ReadRune()
}
