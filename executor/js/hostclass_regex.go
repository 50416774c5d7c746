package js

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// maxMatchWork bounds one pattern on one text, in instructions times bytes:
// RE2 takes time in proportion, and nothing interrupts it.
const maxMatchWork = 200_000_000

const matcherClass = "java.util.regex.Matcher"

// A javaPattern is a pattern in RE2 syntax, which has neither look-around nor
// back-references: what it lacks is refused, and never means something else.
type javaPattern struct {
	source          string
	find, full, top *regexp.Regexp // anywhere, the whole text, its start
	size            int
}

type javaMatcher struct {
	p    *javaPattern
	text string
	next int   // where find goes on
	at   []int // groups of the last match, nil = none
}

func (s *session) compileJava(source string, flags int64) *javaPattern {
	prefix := ""
	for bit, letter := range map[int64]string{2: "i", 8: "m", 32: "s"} {
		if flags&bit != 0 {
			prefix += letter
		}
	}
	if flags&^(2|8|32|64) != 0 {
		s.bad("pattern", "of the flags of Pattern, CASE_INSENSITIVE, MULTILINE, DOTALL and UNICODE_CASE are known")
	}
	if prefix != "" {
		prefix = "(?" + prefix + ")"
	}
	size := 0
	build := func(text string) *regexp.Regexp {
		tree, err := syntax.Parse(text, syntax.Perl)
		if err == nil && len(source) <= maxPattern {
			var prog *syntax.Prog
			if prog, err = syntax.Compile(tree.Simplify()); err == nil && len(prog.Inst) <= 10_000 {
				size = max(size, len(prog.Inst))
				return regexp.MustCompile(text)
			}
		}
		s.bad("pattern", "the pattern is not valid, is too large, or uses what RE2 lacks (look-around, back-references, possessive repetition)")
		return nil
	}
	build(source) // alone, so that it cannot close the group around it
	p := &javaPattern{source: source}
	p.find = build(prefix + "(?:" + source + ")")
	p.full = build(prefix + `\A(?:` + source + `)\z`)
	p.top = build(prefix + `\A(?:` + source + `)`)
	p.size = size
	return p
}

func (s *session) affordMatch(p *javaPattern, text string) {
	if len(text)*p.size > maxMatchWork {
		s.bad("too-large", "the pattern is too costly for a text of this length")
	}
}

func (s *session) javaPattern() *goja.Object {
	t := s.newHostType("java.util.regex.Pattern", nil)
	for name, bit := range map[string]int{"CASE_INSENSITIVE": 2, "MULTILINE": 8, "DOTALL": 32, "UNICODE_CASE": 64} {
		t.field(name, bit)
	}
	compile := func(args []goja.Value) *javaPattern {
		return s.compileJava(argument(args, 0).String(), argument(args, 1).ToInteger())
	}
	t.static("compile", func(args []goja.Value) any { return t.instance(compile(args)) })
	t.static("matches", func(args []goja.Value) any {
		p, text := compile(args[:min(1, len(args))]), argument(args, 1).String()
		s.affordMatch(p, text)
		return p.full.MatchString(text)
	})
	t.static("quote", func(args []goja.Value) any { return regexp.QuoteMeta(argument(args, 0).String()) })
	var matchers *hostType
	instanceMethod(t, "matcher", func(p *javaPattern, _ *goja.Object, args []goja.Value) any {
		if matchers == nil {
			// A matcher is of another class, which the policy may deny.
			s.ask(worker.OpClassLookup, javaHelper, []byte(`["`+matcherClass+`"]`))
			matchers = s.javaMatcherType()
		}
		text := argument(args, 0).String()
		s.affordMatch(p, text)
		return matchers.instance(&javaMatcher{p: p, text: text})
	})
	instanceMethod(t, "split", func(p *javaPattern, _ *goja.Object, args []goja.Value) any {
		text := argument(args, 0).String()
		s.affordMatch(p, text)
		return s.arrayOfText(javaSplit(p.find, text))
	})
	for _, name := range []string{"pattern", "toString", "toJSON"} {
		instanceMethod(t, name, func(p *javaPattern, _ *goja.Object, _ []goja.Value) any { return p.source })
	}
	return t.ctor
}

// javaSplit drops a leading empty match and all empty parts at the end.
func javaSplit(re *regexp.Regexp, text string) []string {
	var parts []string
	last := 0
	for _, m := range re.FindAllStringIndex(text, -1) {
		if m[1] == 0 || m[0] == m[1] && m[0] == len(text) {
			continue
		}
		parts, last = append(parts, text[last:m[0]]), m[1]
	}
	if last == 0 && len(parts) == 0 {
		return []string{text}
	}
	parts = append(parts, text[last:])
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func (s *session) arrayOfText(parts []string) *goja.Object {
	arr := s.vm.NewArray()
	for i, p := range parts {
		_ = arr.Set(strconv.Itoa(i), p)
	}
	return arr
}

// javaMatcherType has no constructor and is not given out as a class.
func (s *session) javaMatcherType() *hostType {
	t := s.newHostType(matcherClass, nil)
	method := func(name string, f func(m *javaMatcher, args []goja.Value) any) {
		instanceMethod(t, name, func(m *javaMatcher, _ *goja.Object, args []goja.Value) any { return f(m, args) })
	}
	method("matches", func(m *javaMatcher, _ []goja.Value) any {
		m.at = m.p.full.FindStringSubmatchIndex(m.text)
		m.next = len(m.text) + 1
		return m.at != nil
	})
	method("lookingAt", func(m *javaMatcher, _ []goja.Value) any {
		if m.at = m.p.top.FindStringSubmatchIndex(m.text); m.at != nil {
			m.next = m.at[1]
		}
		return m.at != nil
	})
	// All matches are found at once: a search that begins in the middle would
	// not see what stands before it, which ^ and \b ask for.
	all := map[*javaMatcher][][]int{}
	method("find", func(m *javaMatcher, _ []goja.Value) any {
		found, ok := all[m]
		if !ok {
			found = m.p.find.FindAllStringSubmatchIndex(m.text, 100_000)
			all = map[*javaMatcher][][]int{m: found}
		}
		m.at = nil
		for _, f := range found {
			if f[0] >= m.next {
				m.at, m.next = f, max(f[1], f[0]+1)
				return true
			}
		}
		if len(found) == 100_000 {
			s.bad("too-large", "the pattern matches more than 100000 times")
		}
		return false
	})
	group := func(m *javaMatcher, v goja.Value) int {
		if m.at == nil {
			s.bad("no-match", "there is no match")
		}
		if goja.IsUndefined(v) {
			return 0
		}
		i := -1
		if name, ok := text(v); ok {
			i = m.p.find.SubexpIndex(name)
		} else if n := v.ToInteger(); n <= int64(m.p.find.NumSubexp()) {
			i = int(n)
		}
		if i < 0 {
			s.bad("no-group", "the pattern has no such group")
		}
		return i
	}
	method("group", func(m *javaMatcher, args []goja.Value) any {
		i := group(m, argument(args, 0))
		if m.at[2*i] < 0 {
			return goja.Null()
		}
		return m.text[m.at[2*i]:m.at[2*i+1]]
	})
	for name, side := range map[string]int{"start": 0, "end": 1} {
		method(name, func(m *javaMatcher, args []goja.Value) any {
			at := m.at
			if i := group(m, argument(args, 0)); at[2*i] >= 0 {
				return len(utf16.Encode([]rune(m.text[:at[2*i+side]])))
			}
			return -1
		})
	}
	method("groupCount", func(m *javaMatcher, _ []goja.Value) any { return m.p.find.NumSubexp() })
	method("reset", func(m *javaMatcher, _ []goja.Value) any { m.at, m.next = nil, 0; return goja.Undefined() })
	for name, most := range map[string]int{"replaceAll": -1, "replaceFirst": 1} {
		method(name, func(m *javaMatcher, args []goja.Value) any { return s.javaReplace(m, argument(args, 0).String(), most) })
	}
	return t
}

// javaReplace puts in a replacement in which $1 and ${name} stand for groups
// and a backslash takes the next letter as it is.
func (s *session) javaReplace(m *javaMatcher, with string, most int) string {
	var b strings.Builder
	last := 0
	add := func(text string) {
		if b.WriteString(text); b.Len() > maxBulk {
			s.bad("too-large", "the text would be too long")
		}
	}
	for _, at := range m.p.find.FindAllStringSubmatchIndex(m.text, most) {
		add(m.text[last:at[0]])
		last = at[1]
		for i := 0; i < len(with); i++ {
			switch {
			case with[i] == '\\' && i+1 < len(with):
				i++
				add(with[i : i+1])
			case with[i] == '$':
				g, width := replaceGroup(m.p.find, with[i+1:])
				if g < 0 {
					s.bad("no-group", "the replacement names a group that the pattern does not have")
				}
				if at[2*g] >= 0 {
					add(m.text[at[2*g]:at[2*g+1]])
				}
				i += width
			default:
				add(with[i : i+1])
			}
		}
	}
	add(m.text[last:])
	return b.String()
}

// replaceGroup reads what follows a $: {name}, or as many digits as still
// name a group.
func replaceGroup(re *regexp.Regexp, text string) (group, width int) {
	if name, _, ok := strings.Cut(strings.TrimPrefix(text, "{"), "}"); ok && strings.HasPrefix(text, "{") {
		return re.SubexpIndex(name), len(name) + 2
	}
	group = -1
	for width < len(text) && text[width] >= '0' && text[width] <= '9' {
		n := max(group, 0)*10 + int(text[width]-'0')
		if n > re.NumSubexp() {
			break
		}
		group, width = n, width+1
	}
	return group, width
}
