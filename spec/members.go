package spec

import "bytes"

// Members are the pointers of all named members of the document, in the order
// of the text.
func (s *Spec) Members() []string {
	if s.src == nil {
		return nil
	}
	root, _ := readTree(s.src.data)
	var out []string
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		for i := range n.members {
			p := join(at, n.members[i].name)
			out = append(out, p)
			walk(&n.members[i].val, p)
		}
		for i := range n.elems {
			walk(&n.elems[i], index(at, i))
		}
	}
	if root != nil {
		walk(root, "")
	}
	return out
}

// StoredSafety is the text of the stored toolSafety block, nil when absent.
func (s *Spec) StoredSafety() []byte {
	if s.src == nil {
		return nil
	}
	root, _ := readTree(s.src.data)
	if v := root.get("toolSafety"); v != nil && v.kind == '{' {
		return bytes.Clone(s.src.data[v.start:v.end])
	}
	return nil
}
