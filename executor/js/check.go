package js

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	checkHelper = "safety.check"
	// maxRules bounds how many members rules, and how many texts an enum has:
	// they are walked natively.
	maxRules = 1000
)

// checker is one call of safety.check.
type checker struct {
	s    *session
	name string // of the value that is looked at
	rule *goja.Object
}

// checkValues is safety.check(values, rules): the members of values that rules
// names, as each rule reads them. The keywords are those of JSON Schema. A
// value that is absent, null or "" is the default of its rule, undefined
// without one. What code checks itself is checked by each tool anew, and some
// forget that a day may be no day.
func (s *session) checkValues(call goja.FunctionCall) goja.Value {
	values, ok := call.Argument(0).(*goja.Object)
	rules, isObject := call.Argument(1).(*goja.Object)
	if !ok || !isObject {
		s.refuse(fault.InvalidInput, checkHelper, "invalid-rule", "[safety.check] check needs an object of values and an object of rules")
	}
	keys := rules.Keys()
	if len(keys) > maxRules {
		s.refuse(fault.InvalidInput, checkHelper, "invalid-rule", "[safety.check] there are more than 1000 rules")
	}
	out := s.vm.NewObject()
	for _, key := range keys {
		c := checker{s: s, name: clip(key, 60)}
		if c.rule, ok = rules.Get(key).(*goja.Object); !ok {
			c.wrong("must be an object")
		}
		v := orUndefined(values.Get(key))
		// An empty segment would make another path of what it stands in.
		text, isText := v.(goja.String)
		empty := isText && text.Length() == 0 && c.text("format") != "segment"
		if goja.IsUndefined(v) || goja.IsNull(v) || empty {
			v = c.keyword("default")
		} else {
			v = c.read(v)
		}
		_ = out.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return out
}

// keyword is a member of the rule, undefined where it is absent.
func (c *checker) keyword(name string) goja.Value { return orUndefined(c.rule.Get(name)) }

// text is a keyword that is text, "" where it is absent.
func (c *checker) text(name string) string {
	v := c.keyword(name)
	if goja.IsUndefined(v) {
		return ""
	}
	if _, ok := v.(goja.String); !ok {
		c.wrong(name + " must be a text")
	}
	return v.String()
}

// bound is a keyword that is a number, absent where there is none.
func (c *checker) bound(name string, absent float64) float64 {
	v := c.keyword(name)
	if goja.IsUndefined(v) {
		return absent
	}
	if !plainNumber(v) || math.IsNaN(v.ToFloat()) {
		c.wrong(name + " must be a number")
	}
	return v.ToFloat()
}

// wrong refuses the rule itself.
func (c *checker) wrong(why string) {
	c.s.refuse(fault.InvalidInput, checkHelper, "invalid-rule", "[safety.check] the rule for "+c.name+": "+why)
}

// refuse refuses the value.
func (c *checker) refuse(what string) {
	c.s.refuse(fault.InvalidInput, checkHelper, "invalid-argument", "[safety.check] "+c.name+" "+what)
}

// must refuses the value as none of what the rule describes, or else of what.
func (c *checker) must(what string) {
	if d := c.text("description"); d != "" {
		what = d
	}
	c.refuse("must be " + clip(what, 500))
}

func (c *checker) read(v goja.Value) goja.Value {
	switch kind := c.text("type"); kind {
	case "integer", "number":
		return c.s.vm.ToValue(c.number(v, kind == "integer"))
	case "", "string":
	default:
		c.wrong(`type must be "integer", "number" or "string"`)
	}
	if _, ok := v.(goja.String); !ok {
		c.must("a text")
	}
	text := v.String()
	c.oneOf(text)
	switch c.text("format") {
	case "":
	case "date":
		c.day(text, time.DateOnly, "YYYY-MM-DD")
	case "basic-date":
		c.day(text, "20060102", "YYYYMMDD")
	case "segment":
		if !pathSegment.MatchString(text) || strings.Trim(text, ".") == "" {
			c.must(`1 to 100 letters, digits, "-", "_" and ".", and not dots alone`)
		}
	default:
		c.wrong(`format must be "date", "basic-date" or "segment"`)
	}
	return v
}

// pathSegment is what stands between two slashes of a URL as it is. A segment
// of dots alone leads elsewhere.
var pathSegment = regexp.MustCompile(`^[\w.-]{1,100}$`)

// number reads a number, or a text as Number reads it, within its bounds.
func (c *checker) number(v goja.Value, whole bool) float64 {
	least, most := c.bound("minimum", math.Inf(-1)), c.bound("maximum", math.Inf(1))
	x := math.NaN()
	if text, ok := v.(goja.String); plainNumber(v) || ok && strings.TrimSpace(text.String()) != "" {
		x = v.ToFloat()
	}
	if !(x >= least && x <= most) || math.IsInf(x, 0) || whole && (x != math.Trunc(x) || math.Abs(x) > maxSafe) {
		what := "a number"
		if whole {
			what = "a whole number"
		}
		shown := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		switch low, high := !math.IsInf(least, 0), !math.IsInf(most, 0); {
		case low && high:
			what += " from " + shown(least) + " to " + shown(most)
		case low:
			what += " of " + shown(least) + " or more"
		case high:
			what += " of at most " + shown(most)
		}
		c.must(what)
	}
	return x + 0 // no -0
}

// maxSafe is Number.MAX_SAFE_INTEGER.
const maxSafe = 1<<53 - 1

// oneOf holds a text to the texts of enum, where the rule has it.
func (c *checker) oneOf(text string) {
	v := c.keyword("enum")
	if goja.IsUndefined(v) {
		return
	}
	list, ok := v.(*goja.Object)
	if !ok || !c.s.isArray(list) {
		c.wrong("enum must be a list of texts")
	}
	n := lengthOf(list)
	if n > maxRules {
		c.wrong("enum must have at most 1000 texts")
	}
	var known []string
	for i := range int(n) {
		word, ok := list.Get(strconv.Itoa(i)).(goja.String)
		if !ok {
			c.wrong("enum must be a list of texts")
		}
		if word.String() == text {
			return
		}
		known = append(known, strconv.Quote(word.String()))
	}
	switch len(known) {
	case 0:
		c.wrong("enum must have a text")
	case 1:
		c.must(known[0])
	case 2, 3:
		c.must(strings.Join(known[:len(known)-1], ", ") + " or " + known[len(known)-1])
	}
	c.must("one of " + strings.Join(known, ", "))
}

// day holds a text to a day of the calendar.
func (c *checker) day(text, layout, shown string) {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
	if digits != strings.NewReplacer("Y", "0", "M", "0", "D", "0").Replace(shown) {
		c.must("a day as " + shown)
	}
	if _, err := time.Parse(layout, text); err != nil {
		digits := strings.ReplaceAll(text, "-", "")
		c.refuse(strconv.Quote(digits[:4]+"-"+digits[4:6]+"-"+digits[6:]) + " is not a time that exists")
	}
}
