package script

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// A set is a set of code points: sorted, disjoint, not adjacent pairs of first
// and last.
type set [][2]rune

// normal sorts and joins what was put together.
func (s set) normal() set {
	slices.SortFunc(s, func(a, b [2]rune) int { return int(a[0]) - int(b[0]) })
	var out set
	for _, r := range s {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (s set) complement() set {
	var out set
	next := rune(0)
	for _, r := range s {
		if r[0] > next {
			out = append(out, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, [2]rune{next, unicode.MaxRune})
	}
	return out
}

func union(sets ...set) set {
	var out set
	for _, s := range sets {
		out = append(out, s...)
	}
	return out.normal()
}

func intersect(a, b set) set { return union(a.complement(), b.complement()).complement() }

func minus(a, b set) set { return intersect(a, b.complement()) }

// tables makes the set of the union of Go's tables.
func tables(list ...*unicode.RangeTable) set {
	var out set
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, [2]rune{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			out = append(out, [2]rune{c, c})
		}
	}
	for _, t := range list {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out.normal()
}

//go:embed unicode.txt
var unicodeText string

// extra is what Go's tables lack; see unicode.txt.
type extra struct {
	props          map[string]set
	added, removed map[string]set    // Script_Extensions against Script
	scripts        map[string]string // short names of scripts
}

var extraData = sync.OnceValue(func() *extra {
	x := &extra{map[string]set{}, map[string]set{}, map[string]set{}, map[string]string{}}
	ranges := func(text string) (out set) {
		for f := range strings.FieldsSeq(text) {
			lo, hi, _ := strings.Cut(f, "-")
			if hi == "" {
				hi = lo
			}
			a, _ := strconv.ParseInt(lo, 16, 32)
			b, _ := strconv.ParseInt(hi, 16, 32)
			out = append(out, [2]rune{rune(a), rune(b)})
		}
		return out
	}
	for line := range strings.Lines(unicodeText) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, data, _ := strings.Cut(rest, " ")
		switch kind {
		case "p":
			x.props[name] = ranges(data)
		case "x":
			added, removed, _ := strings.Cut(data, ";")
			x.added[name], x.removed[name] = ranges(added), ranges(removed)
		case "a":
			for short := range strings.FieldsSeq(data) {
				x.scripts[short] = name
			}
		}
	}
	return x
})

// shortProps are the short names of binary properties.
var shortProps = map[string]string{
	"Alpha": "Alphabetic", "Upper": "Uppercase", "Lower": "Lowercase", "space": "White_Space", "AHex": "ASCII_Hex_Digit",
	"Hex": "Hex_Digit", "IDS": "ID_Start", "IDC": "ID_Continue", "Dia": "Diacritic", "Ext": "Extender", "Ideo": "Ideographic",
	"UIdeo": "Unified_Ideograph", "Join_C": "Join_Control", "NChar": "Noncharacter_Code_Point", "Pat_Syn": "Pattern_Syntax",
	"Pat_WS": "Pattern_White_Space", "QMark": "Quotation_Mark", "RI": "Regional_Indicator", "STerm": "Sentence_Terminal",
	"SD": "Soft_Dotted", "Term": "Terminal_Punctuation", "VS": "Variation_Selector", "Bidi_C": "Bidi_Control", "Dep": "Deprecated",
	"LOE": "Logical_Order_Exception", "IDSB": "IDS_Binary_Operator", "IDST": "IDS_Trinary_Operator", "EComp": "Emoji_Component",
	"EMod": "Emoji_Modifier", "EBase": "Emoji_Modifier_Base", "EPres": "Emoji_Presentation", "ExtPict": "Extended_Pictographic",
}

// binary computes a binary property that is made of others.
func binary(name string) (set, bool) {
	p := unicode.Properties
	syntax := func() set { return tables(p["Pattern_Syntax"], p["Pattern_White_Space"]) }
	start := func() set { return minus(tables(unicode.L, unicode.Nl, p["Other_ID_Start"]), syntax()) }
	lower := func() set { return tables(unicode.Ll, p["Other_Lowercase"]) }
	upper := func() set { return tables(unicode.Lu, p["Other_Uppercase"]) }
	switch name {
	case "Any":
		return set{{0, unicode.MaxRune}}, true
	case "ASCII":
		return set{{0, 0x7F}}, true
	case "Assigned":
		cn, _ := category("Cn")
		return cn.complement(), true
	case "Alphabetic":
		return tables(unicode.L, unicode.Nl, p["Other_Alphabetic"], p["Other_Uppercase"], p["Other_Lowercase"]), true
	case "Lowercase":
		return lower(), true
	case "Uppercase":
		return upper(), true
	case "Cased":
		return union(lower(), upper(), tables(unicode.Lt)), true
	case "Math":
		return tables(unicode.Sm, p["Other_Math"]), true
	case "ID_Start":
		return start(), true
	case "ID_Continue":
		more := tables(unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, p["Other_ID_Continue"])
		return union(start(), minus(more, syntax())), true
	}
	if s, ok := extraData().props[name]; ok {
		return s, true
	}
	if t, ok := p[name]; ok && !strings.HasPrefix(name, "Other_") && name != "Hyphen" && name != "STerm" && name != "Prepended_Concatenation_Mark" {
		return tables(t), true
	}
	return nil, false
}

// category is a value of General_Category, by its short or long name.
func category(name string) (set, bool) {
	if long, ok := unicode.CategoryAliases[name]; ok {
		name = long
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	return tables(t), true
}

// scriptSet is a value of Script, or of Script_Extensions.
func scriptSet(name string, extensions bool) (set, bool) {
	x := extraData()
	if long, ok := x.scripts[name]; ok {
		name = long
	}
	t, ok := unicode.Scripts[name]
	if !ok {
		return nil, false
	}
	s := tables(t)
	if extensions {
		s = minus(union(s, x.added[name]), x.removed[name])
	}
	return s, true
}

// property gives the set of \p{text}.
var property = cached(func(text string) (set, bool) {
	name, value, hasValue := strings.Cut(text, "=")
	if hasValue {
		switch name {
		case "General_Category", "gc":
			return category(value)
		case "Script", "sc":
			return scriptSet(value, false)
		case "Script_Extensions", "scx":
			return scriptSet(value, true)
		}
		return nil, false
	}
	if s, ok := category(name); ok {
		return s, true
	}
	if long, ok := shortProps[name]; ok {
		name = long
	}
	return binary(name)
})

// cached remembers sets that exist; there are a few hundred of them.
func cached(f func(string) (set, bool)) func(string) (set, bool) {
	var known sync.Map
	return func(text string) (set, bool) {
		if s, ok := known.Load(text); ok {
			return s.(set), true
		}
		s, ok := f(text)
		if ok {
			known.Store(text, s)
		}
		return s, ok
	}
}
