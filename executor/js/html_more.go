package js

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/net/html"

	"github.com/toolwarrant/toolwarrant/fault"
)

type elementMethod = func(string, func(*html.Node, *goja.Object, goja.FunctionCall) goja.Value)

type listMethod = func(string, func([]*html.Node, goja.FunctionCall) goja.Value)

// orNull wraps a node that may be missing.
func (d *htmlDoc) orNull(n *html.Node) goja.Value {
	if n == nil {
		return goja.Null()
	}
	return d.wrap(n)
}

// sibling is the next element beside n; step leads to the next node.
func (d *htmlDoc) sibling(n *html.Node, step func(*html.Node) *html.Node) *html.Node {
	for n = step(n); n != nil && n.Type != html.ElementNode; n = step(n) {
		d.tick()
	}
	return n
}

func nextNode(n *html.Node) *html.Node { return n.NextSibling }
func prevNode(n *html.Node) *html.Node { return n.PrevSibling }

func parentElement(n *html.Node) *html.Node {
	if n.Parent == nil || n.Parent.Type != html.ElementNode {
		return nil
	}
	return n.Parent
}

func childElements(n *html.Node) []*html.Node {
	var out []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			out = append(out, c)
		}
	}
	return out
}

// picker gives the test of a selector.
func (d *htmlDoc) picker(css goja.Value) func(*html.Node) bool {
	text := css.String()
	sel, err := parseSelector(text)
	if err != nil {
		d.s.refuse(fault.InvalidInput, parserHelper, "invalid-selector", "[safety.parser] the selector "+strconv.Quote(clip(text, 200))+" "+err.Error())
	}
	m := matcher{sel: sel, root: d.root, tick: d.tick, memo: map[memoKey]bool{}}
	return m.matches
}

// moving are the methods that lead from one element to others.
func (d *htmlDoc) moving(element elementMethod) {
	s := d.s
	for name, step := range map[string]func(*html.Node) *html.Node{"next": nextNode, "nextElementSibling": nextNode, "prev": prevNode, "previousElementSibling": prevNode} {
		element(name, func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
			return d.orNull(d.sibling(n, step))
		})
	}
	element("firstElementChild", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		if c := childElements(n); len(c) > 0 {
			return d.wrap(c[0])
		}
		return goja.Null()
	})
	element("lastElementChild", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		if c := childElements(n); len(c) > 0 {
			return d.wrap(c[len(c)-1])
		}
		return goja.Null()
	})
	element("child", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		c, i := childElements(n), call.Argument(0).ToInteger()
		if i < 0 || i >= int64(len(c)) {
			s.throwError("RangeError", "there is no child at index "+strconv.FormatInt(i, 10)+"; the element has "+strconv.Itoa(len(c)))
		}
		return d.wrap(c[i])
	})
	element("siblings", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		var out []*html.Node
		if n.Parent != nil {
			for _, c := range childElements(n.Parent) {
				if c != n {
					out = append(out, c)
				}
			}
		}
		return d.elements(out)
	})
	element("parents", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		var out []*html.Node
		for p := parentElement(n); p != nil; p = parentElement(p) {
			out = append(out, p)
		}
		return d.elements(out)
	})
	element("closest", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		is := d.picker(call.Argument(0))
		for ; n != nil; n = parentElement(n) {
			if is(n) {
				return d.wrap(n)
			}
		}
		return goja.Null()
	})
	element("is", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(d.picker(call.Argument(0))(n))
	})
	element("equals", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		other, ok := s.reveal(call.Argument(0)).(*html.Node)
		return s.vm.ToValue(ok && other == n)
	})
	element("getElementById", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		id := call.Argument(0).String()
		for e := range within(n) {
			if v, ok := d.attr(e, "id"); d.step() && ok && v == id {
				return d.wrap(e)
			}
		}
		return goja.Null()
	})
	pick := func(name string, has func(e *html.Node, word string) bool) {
		element(name, func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
			word := call.Argument(0).String()
			var out []*html.Node
			for e := range within(n) {
				if d.step() && e.Type == html.ElementNode && has(e, word) {
					if out = append(out, e); len(out) > maxHTMLElements {
						s.refuse(fault.HelperRuntime, parserHelper, "result-too-large", "[safety.parser] more than 200000 elements")
					}
				}
			}
			return d.elements(out)
		})
	}
	pick("getElementsByTag", func(e *html.Node, tag string) bool { return tag == "*" || strings.EqualFold(e.Data, tag) })
	pick("getElementsByClass", d.hasClass)
	pick("getElementsByAttribute", func(e *html.Node, name string) bool { _, ok := d.attr(e, name); return ok })
}

func (d *htmlDoc) step() bool { d.tick(); return true }

func (d *htmlDoc) hasClass(n *html.Node, class string) bool {
	v, _ := d.attr(n, "class")
	for _, c := range strings.Fields(v) {
		if strings.EqualFold(c, class) {
			return true
		}
	}
	return false
}

// changing are the methods that change an element itself.
func (d *htmlDoc) changing(element elementMethod) {
	s := d.s
	element("empty", func(n *html.Node, self *goja.Object, _ goja.FunctionCall) goja.Value {
		for n.FirstChild != nil {
			n.RemoveChild(n.FirstChild)
		}
		return self
	})
	element("removeAttr", func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value {
		name, kept := strings.ToLower(call.Argument(0).String()), n.Attr[:0]
		for _, a := range n.Attr {
			if a.Key != name {
				kept = append(kept, a)
			}
		}
		n.Attr = kept
		return self
	})
	element("hasText", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		return s.vm.ToValue(d.text(n) != "")
	})
	element("childrenSize", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		return s.vm.ToValue(len(childElements(n)))
	})
	element("val", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		if n.Data == "textarea" {
			return s.vm.ToValue(d.text(n))
		}
		v, _ := d.attr(n, "value")
		return s.vm.ToValue(v)
	})
	element("attributes", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		obj := s.vm.NewObject()
		for _, a := range n.Attr {
			_ = obj.DefineDataProperty(a.Key, s.vm.ToValue(a.Val), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
		return obj
	})
}

// moreOfLists are the methods of lists that follow from those of elements.
func (d *htmlDoc) moreOfLists(list listMethod) {
	s := d.s
	list("eq", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		if i := call.Argument(0).ToInteger(); i >= 0 && i < int64(len(nodes)) {
			return d.elements(nodes[i : i+1])
		}
		return d.elements(nil)
	})
	keep := func(nodes []*html.Node, ok func(*html.Node) bool) goja.Value {
		var out []*html.Node
		for _, n := range nodes {
			if ok(n) {
				out = append(out, n)
			}
		}
		return d.elements(out)
	}
	list("not", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		is := d.picker(call.Argument(0))
		return keep(nodes, func(n *html.Node) bool { return !is(n) })
	})
	list("is", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		is := d.picker(call.Argument(0))
		for _, n := range nodes {
			if is(n) {
				return s.vm.ToValue(true)
			}
		}
		return s.vm.ToValue(false)
	})
	list("hasClass", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		for _, n := range nodes {
			if d.hasClass(n, call.Argument(0).String()) {
				return s.vm.ToValue(true)
			}
		}
		return s.vm.ToValue(false)
	})
	list("hasAttr", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		for _, n := range nodes {
			if _, ok := d.attr(n, call.Argument(0).String()); ok {
				return s.vm.ToValue(true)
			}
		}
		return s.vm.ToValue(false)
	})
	list("eachAttr", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		arr, i := s.vm.NewArray(), 0
		for _, n := range nodes {
			if v, ok := d.attr(n, call.Argument(0).String()); ok {
				_ = arr.Set(strconv.Itoa(i), v)
				i++
			}
		}
		return arr
	})
	for name, step := range map[string]func(*html.Node) *html.Node{"next": nextNode, "prev": prevNode} {
		list(name, func(nodes []*html.Node, _ goja.FunctionCall) goja.Value {
			var out []*html.Node
			for _, n := range nodes {
				if e := d.sibling(n, step); e != nil {
					out = append(out, e)
				}
			}
			return d.elements(out)
		})
	}
	called := func(name string, use func(n *html.Node, v goja.Value)) func([]*html.Node, goja.FunctionCall) {
		return func(nodes []*html.Node, call goja.FunctionCall) {
			fn, ok := s.callable(call.Argument(0))
			if !ok {
				s.throwError("TypeError", name+" needs a function")
			}
			for i, n := range nodes {
				use(n, fn(goja.Undefined(), d.wrap(n), s.vm.ToValue(i)))
			}
		}
	}
	list("map", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		arr, i := s.vm.NewArray(), 0
		called("map", func(_ *html.Node, v goja.Value) { _ = arr.Set(strconv.Itoa(i), v); i++ })(nodes, call)
		return arr
	})
	list("filter", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		var out []*html.Node
		called("filter", func(n *html.Node, v goja.Value) {
			if v.ToBoolean() {
				out = append(out, n)
			}
		})(nodes, call)
		return d.elements(out)
	})
}
