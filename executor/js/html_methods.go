package js

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/net/html"

	"github.com/toolwarrant/toolwarrant/fault"
)

// prototypes builds the methods of elements and of element lists, which carry
// the names of jsoup.
func (d *htmlDoc) prototypes() {
	s := d.s
	d.node, d.list = s.vm.NewObject(), s.vm.NewObject()
	str := func(v string) goja.Value { return s.vm.ToValue(v) }

	element := func(name string, f func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value) {
		s.hiddenMethod(d.node, name, func(call goja.FunctionCall) goja.Value {
			n, ok := s.reveal(call.This).(*html.Node)
			if !ok {
				s.refuse(fault.InvalidInput, parserHelper, "not-an-element", "[safety.parser] "+name+" was called on something that is not an element")
			}
			return f(n, call.This.(*goja.Object), call)
		})
	}
	text := func(f func(*html.Node) string) func(*html.Node, *goja.Object, goja.FunctionCall) goja.Value {
		return func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value { return str(f(n)) }
	}
	element("text", text(d.text))
	element("html", text(d.innerHTML))
	element("outerHtml", text(d.outerHTML))
	element("toString", text(d.outerHTML))
	element("toJSON", text(d.outerHTML))
	element("tagName", text(func(n *html.Node) string { return n.Data }))
	element("ownText", text(func(n *html.Node) string {
		own := &html.Node{Type: html.DocumentNode}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				own.AppendChild(&html.Node{Type: html.TextNode, Data: c.Data})
			}
		}
		return d.text(own)
	}))
	element("id", text(func(n *html.Node) string { v, _ := d.attr(n, "id"); return v }))
	element("className", text(func(n *html.Node) string { v, _ := d.attr(n, "class"); return strings.TrimSpace(v) }))
	element("attr", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		v, _ := d.attr(n, call.Argument(0).String())
		return str(v)
	})
	element("absUrl", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		v, _ := d.attr(n, "abs:"+call.Argument(0).String())
		return str(v)
	})
	element("hasAttr", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		_, ok := d.attr(n, call.Argument(0).String())
		return s.vm.ToValue(ok)
	})
	element("hasClass", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(d.hasClass(n, call.Argument(0).String()))
	})
	element("select", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		return d.elements(d.query([]*html.Node{n}, call.Argument(0)))
	})
	element("selectFirst", func(n *html.Node, _ *goja.Object, call goja.FunctionCall) goja.Value {
		if found := d.query([]*html.Node{n}, call.Argument(0)); len(found) > 0 {
			return d.wrap(found[0])
		}
		return goja.Null()
	})
	element("parent", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value { return d.orNull(parentElement(n)) })
	element("children", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		return d.elements(childElements(n))
	})
	element("remove", func(n *html.Node, _ *goja.Object, _ goja.FunctionCall) goja.Value {
		detach(n)
		return goja.Undefined()
	})
	d.insertions(element)
	d.moving(element)
	d.changing(element)
	d.listMethods()
}

func detach(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

func (d *htmlDoc) insertions(element func(string, func(*html.Node, *goja.Object, goja.FunctionCall) goja.Value)) {
	element("append", func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value {
		d.insert(n, call.Argument(0), n.AppendChild)
		return self
	})
	element("prepend", func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value {
		first := n.FirstChild
		d.insert(n, call.Argument(0), func(c *html.Node) { n.InsertBefore(c, first) })
		return self
	})
	element("before", func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value {
		if p := n.Parent; p != nil {
			d.insert(p, call.Argument(0), func(c *html.Node) { p.InsertBefore(c, n) })
		}
		return self
	})
	element("after", func(n *html.Node, self *goja.Object, call goja.FunctionCall) goja.Value {
		if p := n.Parent; p != nil {
			next := n.NextSibling
			d.insert(p, call.Argument(0), func(c *html.Node) { p.InsertBefore(c, next) })
		}
		return self
	})
}

func (d *htmlDoc) listMethods() {
	s := d.s
	list := func(name string, f func(nodes []*html.Node, call goja.FunctionCall) goja.Value) {
		s.hiddenMethod(d.list, name, func(call goja.FunctionCall) goja.Value {
			nodes, ok := s.reveal(call.This).([]*html.Node)
			if !ok {
				s.refuse(fault.InvalidInput, parserHelper, "not-an-element", "[safety.parser] "+name+" was called on something that is not a list of elements")
			}
			return f(nodes, call)
		})
	}
	at := func(nodes []*html.Node, i int64) goja.Value {
		if i < 0 || i >= int64(len(nodes)) {
			return goja.Null()
		}
		return d.wrap(nodes[i])
	}
	array := func(nodes []*html.Node) *goja.Object {
		arr := s.vm.NewArray()
		for i, n := range nodes {
			_ = arr.Set(strconv.Itoa(i), d.wrap(n))
		}
		return arr
	}
	joined := func(f func(*html.Node) string, sep string) func([]*html.Node, goja.FunctionCall) goja.Value {
		return func(nodes []*html.Node, _ goja.FunctionCall) goja.Value {
			b := output{d: d}
			for i, n := range nodes {
				if i > 0 {
					_, _ = b.WriteString(sep)
				}
				_, _ = b.WriteString(f(n))
			}
			return s.vm.ToValue(b.String())
		}
	}
	list("size", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return s.vm.ToValue(len(nodes)) })
	list("isEmpty", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return s.vm.ToValue(len(nodes) == 0) })
	list("first", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return at(nodes, 0) })
	list("last", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return at(nodes, int64(len(nodes))-1) })
	list("get", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		i := call.Argument(0).ToInteger()
		if i < 0 || i >= int64(len(nodes)) {
			s.throwError("RangeError", "there is no element at index "+strconv.FormatInt(i, 10)+"; the list has "+strconv.Itoa(len(nodes)))
		}
		return at(nodes, i)
	})
	list("text", joined(d.text, " "))
	list("html", joined(d.innerHTML, "\n"))
	list("outerHtml", joined(d.outerHTML, "\n"))
	list("toString", joined(d.outerHTML, "\n"))
	list("attr", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		for _, n := range nodes {
			if v, ok := d.attr(n, call.Argument(0).String()); ok {
				return s.vm.ToValue(v)
			}
		}
		return s.vm.ToValue("")
	})
	list("select", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		return d.elements(d.query(nodes, call.Argument(0)))
	})
	list("remove", func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		for _, n := range nodes {
			detach(n)
		}
		return call.This
	})
	list("eachText", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value {
		arr, total := s.vm.NewArray(), output{d: d}
		for i, n := range nodes {
			text := d.text(n)
			total.room(len(text))
			_, _ = total.WriteString(text)
			_ = arr.Set(strconv.Itoa(i), text)
		}
		return arr
	})
	d.moreOfLists(list)
	each := func(nodes []*html.Node, call goja.FunctionCall) goja.Value {
		fn, ok := s.callable(call.Argument(0))
		if !ok {
			s.throwError("TypeError", "each needs a function")
		}
		for i, n := range nodes {
			fn(goja.Undefined(), d.wrap(n), s.vm.ToValue(i))
		}
		return call.This
	}
	list("each", each)
	list("forEach", each)
	list("toArray", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return array(nodes) })
	list("toJSON", func(nodes []*html.Node, _ goja.FunctionCall) goja.Value { return array(nodes) })
	_ = d.list.DefineDataPropertySymbol(goja.SymIterator, s.function("values", func(call goja.FunctionCall) goja.Value {
		nodes, _ := s.reveal(call.This).([]*html.Node)
		return s.iterator(array(nodes))
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
