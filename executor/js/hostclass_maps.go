package js

import "github.com/dop251/goja"

// javaMap keeps the order of insertion, which is one that HashMap may have.
type javaMap struct {
	entries []mapEntry // removed ones have no key
	at      map[itemKey]int
	showing bool
}

type mapEntry struct{ key, value goja.Value }

func newJavaMap() *javaMap { return &javaMap{at: map[itemKey]int{}} }

func (m *javaMap) live() []mapEntry {
	out := make([]mapEntry, 0, len(m.at))
	for _, e := range m.entries {
		if e.key != nil {
			out = append(out, e)
		}
	}
	return out
}

func (m *javaMap) keys() []goja.Value {
	var out []goja.Value
	for _, e := range m.live() {
		out = append(out, e.key)
	}
	return out
}

func (m *javaMap) values() []goja.Value {
	var out []goja.Value
	for _, e := range m.live() {
		out = append(out, e.value)
	}
	return out
}

func (s *session) put(m *javaMap, key, value goja.Value) goja.Value {
	k := s.itemKey(key)
	if i, ok := m.at[k]; ok {
		old := m.entries[i].value
		m.entries[i].value = value
		return old
	}
	if len(m.at) >= maxItems {
		s.bad("too-large", "the collection would grow beyond its limit")
	}
	if len(m.entries) > 64 && len(m.entries) > 2*len(m.at) {
		m.entries = m.live()
		for i, e := range m.entries {
			m.at[s.itemKey(e.key)] = i
		}
	}
	m.at[k] = len(m.entries)
	m.entries = append(m.entries, mapEntry{orUndefined(key), value})
	return goja.Null()
}

func (s *session) take(m *javaMap, key goja.Value) (goja.Value, bool) {
	k := s.itemKey(key)
	i, ok := m.at[k]
	if !ok {
		return goja.Null(), false
	}
	old := m.entries[i].value
	m.entries[i] = mapEntry{}
	delete(m.at, k)
	return old, true
}

func (s *session) javaMapClass(name string) *goja.Object {
	t := s.newHostType(name, func([]goja.Value) any { return newJavaMap() })
	method := func(name string, f func(m *javaMap, args []goja.Value) any) {
		instanceMethod(t, name, func(m *javaMap, _ *goja.Object, args []goja.Value) any { return f(m, args) })
	}
	get := func(m *javaMap, key, absent goja.Value) goja.Value {
		if i, ok := m.at[s.itemKey(key)]; ok {
			return m.entries[i].value
		}
		return absent
	}
	has := func(m *javaMap, key goja.Value) bool { _, ok := m.at[s.itemKey(key)]; return ok }
	method("put", func(m *javaMap, args []goja.Value) any { return s.put(m, argument(args, 0), argument(args, 1)) })
	method("putIfAbsent", func(m *javaMap, args []goja.Value) any {
		if has(m, argument(args, 0)) {
			return get(m, argument(args, 0), goja.Null())
		}
		return s.put(m, argument(args, 0), argument(args, 1))
	})
	method("get", func(m *javaMap, args []goja.Value) any { return get(m, argument(args, 0), goja.Null()) })
	method("getOrDefault", func(m *javaMap, args []goja.Value) any { return get(m, argument(args, 0), argument(args, 1)) })
	method("containsKey", func(m *javaMap, args []goja.Value) any { return has(m, argument(args, 0)) })
	method("remove", func(m *javaMap, args []goja.Value) any { v, _ := s.take(m, argument(args, 0)); return v })
	method("size", func(m *javaMap, _ []goja.Value) any { return len(m.at) })
	method("isEmpty", func(m *javaMap, _ []goja.Value) any { return len(m.at) == 0 })
	method("clear", func(m *javaMap, _ []goja.Value) any { *m = *newJavaMap(); return goja.Undefined() })
	method("keySet", func(m *javaMap, _ []goja.Value) any { return s.arrayOf(m.keys()) })
	method("values", func(m *javaMap, _ []goja.Value) any { return s.arrayOf(m.values()) })
	method("forEach", func(m *javaMap, args []goja.Value) any {
		fn := s.called(argument(args, 0), "forEach")
		for _, e := range m.live() {
			fn(goja.Undefined(), e.key, e.value)
		}
		return goja.Undefined()
	})
	method("toString", func(m *javaMap, _ []goja.Value) any {
		if m.showing {
			return "(this Map)"
		}
		m.showing = true
		defer func() { m.showing = false }()
		values, i := m.values(), -1
		return s.joined("{", "}", m.keys(), func(k goja.Value) string { i++; return shown(k) + "=" + shown(values[i]) })
	})
	method("toJSON", func(m *javaMap, _ []goja.Value) any {
		obj := s.vm.NewObject()
		for _, e := range m.live() {
			_ = obj.DefineDataProperty(shown(e.key), orUndefined(e.value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
		return obj
	})
	return t.ctor
}

func (s *session) javaHashMap() *goja.Object       { return s.javaMapClass("java.util.HashMap") }
func (s *session) javaLinkedHashMap() *goja.Object { return s.javaMapClass("java.util.LinkedHashMap") }

func (s *session) javaSetClass(name string) *goja.Object {
	t := s.newHostType(name, func(args []goja.Value) any {
		m := newJavaMap()
		if a, ok := argument(args, 0).(*goja.Object); ok {
			for _, v := range s.items(a) {
				s.put(m, v, goja.Undefined())
			}
		}
		return m
	})
	method := func(name string, f func(m *javaMap, args []goja.Value) any) {
		instanceMethod(t, name, func(m *javaMap, _ *goja.Object, args []goja.Value) any { return f(m, args) })
	}
	has := func(m *javaMap, key goja.Value) bool { _, ok := m.at[s.itemKey(key)]; return ok }
	add := func(m *javaMap, v goja.Value) bool {
		if has(m, v) {
			return false
		}
		s.put(m, v, goja.Undefined())
		return true
	}
	method("add", func(m *javaMap, args []goja.Value) any { return add(m, argument(args, 0)) })
	method("addAll", func(m *javaMap, args []goja.Value) any {
		changed := false
		for _, v := range s.items(argument(args, 0)) {
			changed = add(m, v) || changed
		}
		return changed
	})
	method("contains", func(m *javaMap, args []goja.Value) any { return has(m, argument(args, 0)) })
	method("remove", func(m *javaMap, args []goja.Value) any { _, ok := s.take(m, argument(args, 0)); return ok })
	method("size", func(m *javaMap, _ []goja.Value) any { return len(m.at) })
	method("isEmpty", func(m *javaMap, _ []goja.Value) any { return len(m.at) == 0 })
	method("clear", func(m *javaMap, _ []goja.Value) any { *m = *newJavaMap(); return goja.Undefined() })
	method("forEach", func(m *javaMap, args []goja.Value) any {
		fn := s.called(argument(args, 0), "forEach")
		for _, v := range m.keys() {
			fn(goja.Undefined(), v)
		}
		return goja.Undefined()
	})
	method("toString", func(m *javaMap, _ []goja.Value) any {
		if m.showing {
			return "(this Collection)"
		}
		m.showing = true
		defer func() { m.showing = false }()
		return s.joined("[", "]", m.keys(), shown)
	})
	method("toArray", func(m *javaMap, _ []goja.Value) any { return s.arrayOf(m.keys()) })
	method("toJSON", func(m *javaMap, _ []goja.Value) any { return s.arrayOf(m.keys()) })
	s.iterable(t, func(v any) []goja.Value {
		if m, ok := v.(*javaMap); ok {
			return m.keys()
		}
		return nil
	})
	return t.ctor
}

func (s *session) javaHashSet() *goja.Object       { return s.javaSetClass("java.util.HashSet") }
func (s *session) javaLinkedHashSet() *goja.Object { return s.javaSetClass("java.util.LinkedHashSet") }
