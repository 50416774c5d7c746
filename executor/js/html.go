package js

import (
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/dop251/goja"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	parserHelper = "safety.parser"
	maxHTML      = 8 << 20 // bytes of one document or fragment
	maxHTMLDepth = 1500    // of the tree, also after append
)

// htmlDoc is one parsed document. Parsing and selecting are pure computation
// and stay inside the worker; nothing is ever loaded from it.
type htmlDoc struct {
	s    *session
	root *html.Node
	base *url.URL
	// nodes is the estimate of how many nodes were made, work what was done
	// on them.
	nodes, work int

	node *goja.Object // prototype of elements
	list *goja.Object // prototype of element lists
}

// parseHTML is safety.parser.html(text, baseURL?).
func (s *session) parseHTML(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	if goja.IsUndefined(v) || goja.IsNull(v) {
		s.refuse(fault.InvalidInput, parserHelper, "missing-input", "[safety.parser] html needs the text of a document")
	}
	d := &htmlDoc{s: s}
	if b := call.Argument(1); !goja.IsUndefined(b) && !goja.IsNull(b) {
		base, err := url.Parse(b.String())
		if err != nil || !base.IsAbs() {
			s.refuse(fault.InvalidInput, parserHelper, "invalid-url", "[safety.parser] the base must be an absolute URL")
		}
		d.base = base
	}
	f := d.feed(d.input(v))
	root, err := html.ParseWithOptions(f, f.watch())
	d.fed(f, err)
	d.root = root
	d.prototypes()
	doc := d.wrap(root)
	s.hiddenMethod(doc, "title", func(goja.FunctionCall) goja.Value {
		if t := cascadia.Query(root, titleSelector); t != nil {
			return s.vm.ToValue(d.text(t))
		}
		return s.vm.ToValue("")
	})
	s.hiddenMethod(doc, "body", func(goja.FunctionCall) goja.Value { return d.first("body") })
	s.hiddenMethod(doc, "head", func(goja.FunctionCall) goja.Value { return d.first("head") })
	return doc
}

var titleSelector = cascadia.MustCompile("title")

func (d *htmlDoc) first(tag string) goja.Value {
	for c := d.root.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Html {
			continue
		}
		for b := c.FirstChild; b != nil; b = b.NextSibling {
			if b.Type == html.ElementNode && b.Data == tag {
				return d.wrap(b)
			}
		}
	}
	return goja.Null()
}

func (d *htmlDoc) input(v goja.Value) string {
	text := v.String()
	if len(text) > maxHTML {
		d.s.refuse(fault.InvalidInput, parserHelper, "input-too-large", "[safety.parser] the text is larger than 8 MiB")
	}
	return text
}

func (d *htmlDoc) wrap(n *html.Node) *goja.Object {
	if n == nil {
		return nil
	}
	obj := d.s.vm.CreateObject(d.node)
	d.s.hide(obj, n)
	return obj
}

func (d *htmlDoc) elements(nodes []*html.Node) goja.Value {
	obj := d.s.vm.CreateObject(d.list)
	d.s.hide(obj, nodes)
	d.s.constant(obj, "length", d.s.vm.ToValue(len(nodes)))
	return obj
}

// within gives a node and all below it, in document order.
func within(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := root; n != nil; {
			if !yield(n) {
				return
			}
			if n.FirstChild != nil {
				n = n.FirstChild
				continue
			}
			for n != root && n.NextSibling == nil {
				n = n.Parent
			}
			if n == root {
				return
			}
			n = n.NextSibling
		}
	}
}

// query runs a CSS selector on roots and what is below them, as jsoup does,
// in document order, each once.
func (d *htmlDoc) query(roots []*html.Node, css goja.Value) []*html.Node {
	text := css.String()
	sel, err := parseSelector(text)
	if err != nil {
		d.s.refuse(fault.InvalidInput, parserHelper, "invalid-selector", "[safety.parser] the selector "+strconv.Quote(clip(text, 200))+" "+err.Error())
	}
	var out []*html.Node
	seen := map[*html.Node]bool{}
	for _, r := range roots {
		m := matcher{sel: sel, root: r, tick: d.tick, memo: map[memoKey]bool{}}
		for n := range within(r) {
			if m.matches(n) && !seen[n] {
				seen[n] = true
				if out = append(out, n); len(out) > maxHTMLElements {
					d.s.refuse(fault.HelperRuntime, parserHelper, "result-too-large", "[safety.parser] the selector finds more than 200000 elements")
				}
			}
		}
	}
	return out
}

// insert parses a fragment in the context of parent and hands its nodes over.
func (d *htmlDoc) insert(parent *html.Node, text goja.Value, place func(*html.Node)) {
	depth := 0
	for p := parent; p != nil; p = p.Parent {
		depth++
	}
	if depth > maxHTMLDepth-600 {
		d.s.refuse(fault.InvalidInput, parserHelper, "input-too-large", "[safety.parser] the document would nest too deeply")
	}
	context := parent
	if context.Type != html.ElementNode {
		context = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	}
	f := d.feed(d.input(text))
	nodes, err := html.ParseFragmentWithOptions(f, context, f.watch())
	d.fed(f, err)
	for _, n := range nodes {
		place(n)
	}
}

// attr reads an attribute; "abs:name" resolves it against the base URL.
func (d *htmlDoc) attr(n *html.Node, name string) (string, bool) {
	name = strings.ToLower(name)
	abs := strings.HasPrefix(name, "abs:")
	name = strings.TrimPrefix(name, "abs:")
	for _, a := range n.Attr {
		if a.Key != name {
			continue
		}
		if !abs {
			return a.Val, true
		}
		u, err := url.Parse(strings.TrimSpace(a.Val))
		if err == nil && d.base != nil {
			u = d.base.ResolveReference(u)
		}
		if err != nil || !u.IsAbs() {
			return "", false
		}
		return u.String(), true
	}
	return "", false
}

var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "body": true, "br": true, "center": true, "dd": true,
	"details": true, "div": true, "dl": true, "dt": true, "fieldset": true, "figcaption": true, "figure": true, "footer": true,
	"form": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "head": true, "header": true, "hr": true,
	"html": true, "li": true, "main": true, "nav": true, "ol": true, "option": true, "p": true, "pre": true, "section": true,
	"table": true, "tbody": true, "td": true, "tfoot": true, "th": true, "thead": true, "title": true, "tr": true, "ul": true,
}

// text is the visible text with white space normalised; blocks and line
// breaks are separated by one space.
func (d *htmlDoc) text(n *html.Node) string {
	b := output{d: d}
	d.addText(&b, n)
	return strings.TrimSpace(b.String())
}

func (d *htmlDoc) addText(b *output, n *html.Node) {
	space := true // nothing to separate yet
	emit := func(text string) {
		b.room(len(text))
		for _, r := range text {
			switch r {
			case ' ', '\t', '\n', '\f', '\r', '\u00a0':
				if !space {
					b.Builder.WriteByte(' ')
					space = true
				}
			default:
				b.Builder.WriteRune(r)
				space = false
			}
		}
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			if p := n.Parent; p == nil || p.DataAtom != atom.Script && p.DataAtom != atom.Style {
				emit(n.Data)
			}
		case html.ElementNode, html.DocumentNode:
			if blocks[n.Data] {
				emit(" ")
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
			if blocks[n.Data] {
				emit(" ")
			}
		}
	}
	walk(n)
}

func (d *htmlDoc) innerHTML(n *html.Node) string {
	b := output{d: d}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if html.Render(&b, c) != nil {
			break
		}
	}
	return b.String()
}

func (d *htmlDoc) outerHTML(n *html.Node) string {
	b := output{d: d}
	_ = html.Render(&b, n)
	return b.String()
}
