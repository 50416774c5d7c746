package js

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

func (s *session) javaString() *goja.Object {
	t := s.newHostType("java.lang.String", nil)
	t.static("valueOf", func(args []goja.Value) any { return shown(argument(args, 0)) })
	t.static("join", func(args []goja.Value) any {
		parts := args[min(1, len(args)):]
		if len(parts) == 1 {
			if _, isObject := parts[0].(*goja.Object); isObject {
				parts = s.items(parts[0])
			}
		}
		return s.joinText(argument(args, 0).String(), parts)
	})
	t.static("format", func(args []goja.Value) any { return s.javaFormat(argument(args, 0).String(), args[min(1, len(args)):]) })
	return t.ctor
}

func (s *session) joinText(separator string, parts []goja.Value) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(shown(p))
		if b.Len() > maxBulk {
			s.bad("too-large", "the text would be too long")
		}
	}
	return b.String()
}

var javaVerb = regexp.MustCompile(`^(?:(\d{1,3})\$)?([-0,+ ]{0,5})(\d{1,4})?(?:\.(\d{1,3}))?([a-zA-Z%])`)

// javaFormat knows %s %S %d %x %X %f %c %b %n and %%, with index, flags, width
// and precision; anything else is refused.
func (s *session) javaFormat(format string, args []goja.Value) string {
	var b strings.Builder
	next := 0
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(format)
			return b.String()
		}
		b.WriteString(format[:i])
		m := javaVerb.FindStringSubmatch(format[i+1:])
		if m == nil {
			s.bad("format", "the format has a % that cannot be read")
		}
		format = format[i+1+len(m[0]):]
		switch m[5] {
		case "n":
			b.WriteByte('\n')
			continue
		case "%":
			b.WriteByte('%')
			continue
		}
		at := next
		if m[1] != "" {
			n, _ := strconv.Atoi(m[1])
			at = n - 1
		} else {
			next++
		}
		if at < 0 || at >= len(args) {
			s.bad("format", "the format names more arguments than there are")
		}
		text := s.formatted(m[5], m[2], m[4], args[at])
		width, _ := strconv.Atoi(m[3])
		pad := max(width-utf8.RuneCountInString(text), 0)
		switch {
		case strings.Contains(m[2], "-"):
			text += strings.Repeat(" ", pad)
		case strings.Contains(m[2], "0") && strings.Contains("dfxX", m[5]):
			digits := strings.TrimLeft(text, "+- ")
			text = text[:len(text)-len(digits)] + strings.Repeat("0", pad) + digits
		default:
			text = strings.Repeat(" ", pad) + text
		}
		if b.WriteString(text); b.Len() > maxBulk {
			s.bad("too-large", "the text would be too long")
		}
	}
}

// formatted is one argument without its padding.
func (s *session) formatted(verb, flags, precision string, v goja.Value) string {
	number := func(text string) string {
		sign := ""
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		} else if strings.Contains(flags, "+") {
			sign = "+"
		} else if strings.Contains(flags, " ") {
			sign = " "
		}
		if strings.Contains(flags, ",") {
			whole, fraction, dot := strings.Cut(text, ".")
			for i := len(whole) - 3; i > 0; i -= 3 {
				whole = whole[:i] + "," + whole[i:]
			}
			if text = whole; dot {
				text += "." + fraction
			}
		}
		return sign + text
	}
	switch verb {
	case "s", "S":
		text := shown(v)
		if n, err := strconv.Atoi(precision); err == nil {
			r := []rune(text)
			text = string(r[:min(n, len(r))])
		}
		if verb == "S" {
			text = strings.ToUpper(text)
		}
		return text
	case "b":
		if x, ok := v.Export().(bool); ok {
			return strconv.FormatBool(x)
		}
		return strconv.FormatBool(!goja.IsUndefined(v) && !goja.IsNull(v))
	case "c":
		if text, ok := text(v); ok && utf8.RuneCountInString(text) == 1 {
			return text
		}
		if n := v.ToInteger(); n > 0 && n <= unicode.MaxRune {
			return string(rune(n))
		}
	case "d", "x", "X":
		d, ok := parseDecimal(strings.TrimSpace(shown(v)))
		if ok && d.scale <= 0 && precision == "" {
			whole, _ := d.rescale(0, "UNNECESSARY")
			if verb == "d" {
				return number(whole.plain())
			}
			if n := whole.unscaled; n.Sign() >= 0 {
				text := n.Text(16)
				if verb == "X" {
					text = strings.ToUpper(text)
				}
				return text
			}
			if n := whole.unscaled; n.IsInt64() && n.Int64() >= math.MinInt32 {
				text := strconv.FormatUint(uint64(uint32(n.Int64())), 16)
				if verb == "X" {
					text = strings.ToUpper(text)
				}
				return text
			}
		}
	case "f":
		d, ok := parseDecimal(strings.TrimSpace(shown(v)))
		if ok {
			n := 6
			if precision != "" {
				n, _ = strconv.Atoi(precision)
			}
			if d, ok = d.rescale(n, "HALF_UP"); ok {
				return number(d.plain())
			}
		}
	}
	s.bad("format", "%"+verb+" cannot show "+strconv.Quote(clip(shown(v), 80)))
	return ""
}

func (s *session) javaCharacter() *goja.Object {
	t := s.newHostType("java.lang.Character", nil)
	read := func(v goja.Value) rune {
		if text, ok := text(v); ok {
			if r, n := utf8.DecodeRuneInString(text); n == len(text) && n > 0 {
				return r
			}
			s.bad("character-required", "the argument must be one character or its number")
		}
		return rune(max(min(v.ToInteger(), unicode.MaxRune), -1))
	}
	for name, f := range map[string]func(rune) bool{
		"isDigit": unicode.IsDigit, "isLetter": unicode.IsLetter, "isUpperCase": unicode.IsUpper, "isLowerCase": unicode.IsLower,
		"isLetterOrDigit": func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
		// Java's white space is Unicode's separators but for the ones that do
		// not break, and the controls of ASCII.
		"isWhitespace": func(r rune) bool {
			return r >= 9 && r <= 13 || r >= 0x1c && r <= 0x1f || unicode.In(r, unicode.Z) && r != 0xa0 && r != 0x2007 && r != 0x202f
		},
	} {
		t.static(name, func(args []goja.Value) any { return f(read(argument(args, 0))) })
	}
	for name, f := range map[string]func(rune) rune{"toUpperCase": unicode.ToUpper, "toLowerCase": unicode.ToLower} {
		t.static(name, func(args []goja.Value) any {
			r := f(read(argument(args, 0)))
			if _, isText := text(argument(args, 0)); isText {
				return string(r)
			}
			return int(r)
		})
	}
	t.static("toString", func(args []goja.Value) any { return string(read(argument(args, 0))) })
	t.static("getNumericValue", func(args []goja.Value) any {
		n, err := strconv.ParseInt(string(read(argument(args, 0))), 36, 32)
		if err != nil {
			return -1
		}
		return n
	})
	return t.ctor
}

func (s *session) javaObjects() *goja.Object {
	t := s.newHostType("java.util.Objects", nil)
	none := func(v goja.Value) bool { return goja.IsUndefined(v) || goja.IsNull(v) }
	t.static("isNull", func(args []goja.Value) any { return none(argument(args, 0)) })
	t.static("nonNull", func(args []goja.Value) any { return !none(argument(args, 0)) })
	t.static("equals", func(args []goja.Value) any { return s.itemKey(argument(args, 0)) == s.itemKey(argument(args, 1)) })
	t.static("toString", func(args []goja.Value) any {
		if v := argument(args, 0); none(v) && len(args) > 1 {
			return args[1]
		}
		return shown(argument(args, 0))
	})
	t.static("requireNonNull", func(args []goja.Value) any {
		if none(argument(args, 0)) {
			message := "a value is required"
			if text, ok := text(argument(args, 1)); ok {
				message = text
			}
			s.bad("null", message)
		}
		return args[0]
	})
	t.static("requireNonNullElse", func(args []goja.Value) any {
		if none(argument(args, 0)) {
			return argument(args, 1)
		}
		return args[0]
	})
	return t.ctor
}

type joiner struct {
	separator, prefix, suffix string
	parts                     []goja.Value
}

func (s *session) javaStringJoiner() *goja.Object {
	t := s.newHostType("java.util.StringJoiner", func(args []goja.Value) any {
		j := &joiner{separator: argument(args, 0).String()}
		if len(args) > 1 {
			j.prefix, j.suffix = args[1].String(), argument(args, 2).String()
		}
		return j
	})
	instanceMethod(t, "add", func(j *joiner, this *goja.Object, args []goja.Value) any {
		if len(j.parts) >= maxItems {
			s.bad("too-large", "the collection would grow beyond its limit")
		}
		j.parts = append(j.parts, s.vm.ToValue(shown(argument(args, 0))))
		return this
	})
	text := func(j *joiner) string { return j.prefix + s.joinText(j.separator, j.parts) + j.suffix }
	instanceMethod(t, "length", func(j *joiner, _ *goja.Object, _ []goja.Value) any { return len(utf16.Encode([]rune(text(j)))) })
	for _, name := range []string{"toString", "toJSON"} {
		instanceMethod(t, name, func(j *joiner, _ *goja.Object, _ []goja.Value) any { return text(j) })
	}
	return t.ctor
}
