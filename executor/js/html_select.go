package js

import (
	"errors"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A selector is a group of chains. Each step is matched by the library; the
// steps are combined here, since the library tries every way through the
// ancestors: a few blanks in a selector would take it hours on a deep page,
// and it cannot be interrupted.
type selector []chain

type chain []step

type step struct {
	combinator byte // before this step: 0 for none, ' ', '>', '+', '~'
	match      cascadia.Sel
}

const (
	maxSelector = 4096 // bytes
	maxSteps    = 64   // of one group
)

var (
	errSelector = errors.New("cannot be read")
	errCostly   = errors.New("is too costly")
)

func parseSelector(text string) (selector, error) {
	if len(text) > maxSelector {
		return nil, errCostly
	}
	groups, err := splitSelector(text)
	if err != nil {
		return nil, err
	}
	var out selector
	steps := 0
	for _, g := range groups {
		var c chain
		for _, p := range g {
			if steps++; steps > maxSteps {
				return nil, errCostly
			}
			if err := affordable(p.text, 0); err != nil {
				return nil, err
			}
			m, err := cascadia.Parse(p.text)
			if err != nil {
				return nil, errSelector
			}
			c = append(c, step{p.combinator, m})
		}
		out = append(out, c)
	}
	return out, nil
}

type piece struct {
	combinator byte
	text       string
}

// splitSelector cuts a group at its commas and combinators; what stands in
// quotes, brackets and parentheses is not looked into.
func splitSelector(text string) ([][]piece, error) {
	var groups [][]piece
	var group []piece
	pending, start := byte(0), -1
	end := func(at int) {
		if start >= 0 {
			group = append(group, piece{pending, text[start:at]})
			pending, start = 0, -1
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r', '\f', '>', '+', '~':
			end(i)
			switch {
			case c == '>' || c == '+' || c == '~':
				if pending != 0 && pending != ' ' {
					return nil, errSelector
				}
				pending = c
			case pending == 0 && len(group) > 0:
				pending = ' '
			}
		case ',':
			end(i)
			if len(group) == 0 || pending != 0 && pending != ' ' {
				return nil, errSelector
			}
			groups, group, pending = append(groups, group), nil, 0
		default:
			if start < 0 {
				start = i
			}
			n := span(text[i:])
			if n == 0 {
				return nil, errSelector
			}
			i += n - 1
		}
	}
	end(len(text))
	if len(group) == 0 || pending != 0 && pending != ' ' {
		return nil, errSelector
	}
	return append(groups, group), nil
}

// span is the length of the unit at the start of a selector: a letter, an
// escape, or all between quotes, brackets or parentheses. 0: it has no end.
func span(text string) int {
	switch c := text[0]; c {
	case '\\':
		return min(2, len(text))
	case '"', '\'':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case c:
				return i + 1
			}
		}
		return 0
	case '[', '(':
		shut := map[byte]byte{'[': ']', '(': ')'}[c]
		for i := 1; i < len(text); {
			if text[i] == shut {
				return i + 1
			}
			n := span(text[i:])
			if n == 0 {
				return 0
			}
			i += n
		}
		return 0
	}
	return 1
}

// affordable refuses what a single match could spend without a bound: patterns,
// and what is nested in :has and :not beyond one level.
func affordable(compound string, level int) error {
	lower := strings.ToLower(compound)
	if strings.Contains(lower, ":matches") || strings.Contains(compound, "#=") {
		return errCostly
	}
	for i := 0; i < len(compound); {
		n := span(compound[i:])
		if n == 0 {
			return errSelector
		}
		if compound[i] == '(' && (strings.HasSuffix(lower[:i], ":has") || strings.HasSuffix(lower[:i], ":haschild") || strings.HasSuffix(lower[:i], ":not")) {
			if level > 0 {
				return errCostly
			}
			inner, err := splitSelector(compound[i+1 : i+n-1])
			if err != nil {
				return err
			}
			for _, g := range inner {
				if len(g) > 2 {
					return errCostly
				}
				for _, p := range g {
					if err := affordable(p.text, level+1); err != nil {
						return err
					}
				}
			}
		}
		i += n
	}
	return nil
}

// A matcher finds the nodes of one selector below one root. tick is called
// for each unit of work and may end it.
type matcher struct {
	sel  selector
	root *html.Node // what a chain that begins with a combinator hangs on
	tick func()
	memo map[memoKey]bool
}

type memoKey struct {
	n           *html.Node
	group, step int
}

func (m *matcher) matches(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for g, c := range m.sel {
		if m.at(n, g, len(c)-1) {
			return true
		}
	}
	return false
}

// at reports whether n matches a chain up to one of its steps.
func (m *matcher) at(n *html.Node, group, i int) bool {
	m.tick()
	st := m.sel[group][i]
	if n.Type != html.ElementNode || !st.match.Match(n) {
		return false
	}
	if i == 0 && st.combinator == 0 {
		return true
	}
	key := memoKey{n, group, i}
	if known, ok := m.memo[key]; ok {
		return known
	}
	left := func(p *html.Node) bool {
		if i == 0 {
			return p == m.root
		}
		return m.at(p, group, i-1)
	}
	found := false
	switch st.combinator {
	case ' ':
		for p := n.Parent; p != nil && !found; p = p.Parent {
			found = left(p)
		}
	case '>':
		found = n.Parent != nil && left(n.Parent)
	case '+', '~':
		for p := n.PrevSibling; p != nil && !found; p = p.PrevSibling {
			if m.tick(); p.Type != html.ElementNode {
				continue
			}
			if found = left(p); st.combinator == '+' {
				break
			}
		}
	}
	m.memo[key] = found
	return found
}
