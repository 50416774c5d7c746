package script

import "slices"

// references refuses references to what an earlier turn captured, which
// ECMAScript has forgotten. around are the repetitions around n.
func (t *rxTree) references(n *rxNode, around []*rxNode, behind bool) {
	if n.kind == rxRef {
		if t.p.fold && !t.p.unicode {
			t.root.find(func(k *rxNode) bool {
				if k.kind == rxCapture && k.capture == n.refs && k.find((*rxNode).cased) {
					t.p.fail("a reference to a group of letters together with the flag i is not supported; use the flags iu, or compare in code")
				}
				return false
			})
		}
		for _, r := range around {
			if r.find(func(k *rxNode) bool {
				return k.kind == rxCapture && k.capture == n.refs && (behind || k.end > n.start)
			}) {
				t.p.fail("a reference to a group that the same repetition captures only later is not supported")
			}
		}
		return
	}
	if n.kind == rxRepeat && n.max != 1 && n.max != 0 {
		around = append(around[:len(around):len(around)], n)
	}
	behind = behind || n.kind == rxBehind || n.kind == rxNotBehind
	for _, k := range n.kids {
		t.references(k, around, behind)
	}
}

// lookarounds refuses what the engine drops: a capture that ends before the
// one of the number before it begins.
func (t *rxTree) lookarounds(root *rxNode) {
	root.find(func(n *rxNode) bool {
		const advice = "is not supported; capture in an expression of its own"
		switch n.kind {
		case rxAhead:
			last := 0
			n.find(func(k *rxNode) bool { last = max(last, k.capture); return false })
			if last > 0 && last < t.total && !firstOnly(n.kids[0]) {
				t.p.fail("a capture inside of (?=..) with another one behind it %s", advice)
			}
		case rxBehind:
			first := t.total + 1
			n.find(func(k *rxNode) bool {
				if k.kind == rxCapture {
					first = min(first, k.capture)
				}
				return false
			})
			if first > 1 && first <= t.total {
				t.p.fail("a capture inside of (?<=..) with another one before it %s", advice)
			}
		}
		return false
	})
}

// firstOnly says that what n captures begins where n does.
func firstOnly(n *rxNode) bool {
	switch n.kind {
	case rxAlt:
		return !slices.ContainsFunc(n.kids, func(k *rxNode) bool { return !firstOnly(k) })
	case rxSeq:
		for i, k := range n.kids {
			if k.captures() {
				return firstOnly(k) && !slices.ContainsFunc(n.kids[i+1:], (*rxNode).captures)
			}
			if k.kind == rxAtom || k.kind == rxRepeat || k.kind == rxGroup || k.kind == rxRef {
				return !slices.ContainsFunc(n.kids[i:], (*rxNode).captures)
			}
		}
		return true
	case rxRepeat:
		return !n.captures() || n.max == 1 && firstOnly(n.kids[0])
	case rxCapture, rxGroup, rxAhead:
		return firstOnly(n.kids[0])
	}
	return !n.captures()
}
