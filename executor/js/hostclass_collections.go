package js

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

// maxItems bounds one collection.
const maxItems = 1 << 20

// itemKey is what makes two items equal: the value of primitives and of the
// instances of our own classes, otherwise the object itself.
type itemKey struct {
	kind byte
	text string
	obj  *goja.Object
}

func (s *session) itemKey(v goja.Value) itemKey {
	obj, ok := v.(*goja.Object)
	switch {
	case v == nil || goja.IsUndefined(v) || goja.IsNull(v):
		return itemKey{kind: '0'}
	case !ok:
		if text, ok := text(v); ok {
			return itemKey{kind: 's', text: text}
		}
		switch x := v.Export().(type) {
		case bool:
			return itemKey{kind: 'b', text: strconv.FormatBool(x)}
		case *big.Int:
			return itemKey{kind: 'i', text: x.String()}
		}
		return itemKey{kind: 'n', text: strconv.FormatFloat(v.ToFloat()+0, 'g', -1, 64)}
	}
	switch x := s.reveal(obj).(type) {
	case uuid.UUID:
		return itemKey{kind: 'u', text: x.String()}
	case time.Time:
		return itemKey{kind: 't', text: instantText(x)}
	case *big.Int:
		return itemKey{kind: 'I', text: x.String()}
	case decimal:
		return itemKey{kind: 'D', text: x.unscaled.String() + "/" + strconv.Itoa(x.scale)}
	case time.Duration:
		return itemKey{kind: 'P', text: x.String()}
	case date:
		return itemKey{kind: 'd', text: x.String()}
	}
	return itemKey{kind: 'o', obj: obj}
}

// items reads an array or one of our own collections.
func (s *session) items(v goja.Value) []goja.Value {
	switch c := s.reveal(v).(type) {
	case *javaList:
		return slices.Clone(c.items)
	case *javaMap:
		return slices.Clone(c.keys())
	}
	obj, ok := v.(*goja.Object)
	if !ok || !s.isArray(obj) {
		s.bad("collection-required", "the argument must be an array or a collection")
	}
	n := lengthOf(obj)
	if n > maxItems {
		s.bad("too-large", "the collection would grow beyond its limit")
	}
	out := make([]goja.Value, n)
	for i := range out {
		out[i] = orUndefined(obj.Get(strconv.Itoa(i)))
	}
	return out
}

func (s *session) arrayOf(items []goja.Value) *goja.Object {
	arr := s.vm.NewArray()
	for i, v := range items {
		_ = arr.Set(strconv.Itoa(i), orUndefined(v))
	}
	return arr
}

// shown is how collections print an item.
func shown(v goja.Value) string {
	if v == nil || goja.IsUndefined(v) {
		return "null"
	}
	return v.String()
}

func (s *session) joined(open, shut string, parts []goja.Value, each func(goja.Value) string) string {
	var b strings.Builder
	b.WriteString(open)
	for i, v := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(each(v))
		if b.Len() > maxBulk {
			s.bad("too-large", "the text would be too long")
		}
	}
	return b.String() + shut
}

// called calls a function of the program.
func (s *session) called(v goja.Value, what string) callee {
	fn, ok := s.callable(v)
	if !ok {
		s.throwError("TypeError", what+" needs a function")
	}
	return fn
}

type javaList struct {
	items   []goja.Value
	showing bool // toString is at work: a list that holds itself ends
}

func (s *session) javaArrayList() *goja.Object {
	t := s.newHostType("java.util.ArrayList", func(args []goja.Value) any {
		l := &javaList{}
		if a := argument(args, 0); !goja.IsUndefined(a) {
			if _, isObject := a.(*goja.Object); isObject {
				l.items = s.items(a)
			}
		}
		return l
	})
	method := func(name string, f func(l *javaList, args []goja.Value) any) {
		instanceMethod(t, name, func(l *javaList, _ *goja.Object, args []goja.Value) any { return f(l, args) })
	}
	index := func(l *javaList, v goja.Value, last int) int {
		i := v.ToInteger()
		if i < 0 || i > int64(last) {
			s.bad("index", "the index "+strconv.FormatInt(i, 10)+" is outside of the ArrayList")
		}
		return int(i)
	}
	insert := func(l *javaList, at int, items ...goja.Value) {
		if len(l.items)+len(items) > maxItems {
			s.bad("too-large", "the collection would grow beyond its limit")
		}
		l.items = slices.Insert(l.items, at, items...)
	}
	find := func(l *javaList, v goja.Value) int {
		key := s.itemKey(v)
		return slices.IndexFunc(l.items, func(o goja.Value) bool { return s.itemKey(o) == key })
	}
	method("add", func(l *javaList, args []goja.Value) any {
		if len(args) > 1 {
			insert(l, index(l, args[0], len(l.items)), args[1])
			return goja.Undefined()
		}
		insert(l, len(l.items), argument(args, 0))
		return true
	})
	method("addAll", func(l *javaList, args []goja.Value) any {
		more := s.items(argument(args, 0))
		insert(l, len(l.items), more...)
		return len(more) > 0
	})
	method("get", func(l *javaList, args []goja.Value) any { return l.items[index(l, argument(args, 0), len(l.items)-1)] })
	method("set", func(l *javaList, args []goja.Value) any {
		i := index(l, argument(args, 0), len(l.items)-1)
		old := l.items[i]
		l.items[i] = argument(args, 1)
		return old
	})
	// A number is an index, as Java takes an int; anything else is an item.
	method("remove", func(l *javaList, args []goja.Value) any {
		if key := s.itemKey(argument(args, 0)); key.kind == 'n' {
			i := index(l, argument(args, 0), len(l.items)-1)
			old := l.items[i]
			l.items = slices.Delete(l.items, i, i+1)
			return old
		}
		i := find(l, argument(args, 0))
		if i >= 0 {
			l.items = slices.Delete(l.items, i, i+1)
		}
		return i >= 0
	})
	method("clear", func(l *javaList, _ []goja.Value) any { l.items = nil; return goja.Undefined() })
	method("size", func(l *javaList, _ []goja.Value) any { return len(l.items) })
	method("isEmpty", func(l *javaList, _ []goja.Value) any { return len(l.items) == 0 })
	method("contains", func(l *javaList, args []goja.Value) any { return find(l, argument(args, 0)) >= 0 })
	method("indexOf", func(l *javaList, args []goja.Value) any { return find(l, argument(args, 0)) })
	method("forEach", func(l *javaList, args []goja.Value) any {
		fn := s.called(argument(args, 0), "forEach")
		for _, v := range slices.Clone(l.items) {
			fn(goja.Undefined(), v)
		}
		return goja.Undefined()
	})
	method("toString", func(l *javaList, _ []goja.Value) any {
		if l.showing {
			return "(this Collection)"
		}
		l.showing = true
		defer func() { l.showing = false }()
		return s.joined("[", "]", l.items, shown)
	})
	method("toArray", func(l *javaList, _ []goja.Value) any { return s.arrayOf(l.items) })
	method("toJSON", func(l *javaList, _ []goja.Value) any { return s.arrayOf(l.items) })
	s.iterable(t, func(v any) []goja.Value {
		if l, ok := v.(*javaList); ok {
			return l.items
		}
		return nil
	})
	return t.ctor
}

// iterable lets for-of go over what items gives at its start.
func (s *session) iterable(t *hostType, items func(any) []goja.Value) {
	_ = t.proto.DefineDataPropertySymbol(goja.SymIterator, s.function("values", func(call goja.FunctionCall) goja.Value {
		return s.iterator(s.arrayOf(items(s.reveal(call.This))))
	}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}
