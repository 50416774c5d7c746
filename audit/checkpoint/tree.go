package checkpoint

import (
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is the Merkle tree over the lines of a log (RFC 6962, section 2.1), of
// which only the right edge is kept: the roots of its full subtrees, the
// largest first. The zero value is the tree of no lines. It is not safe for
// concurrent use.
type Tree struct {
	size int64
	edge []tlog.Hash
}

// Append adds the leaf hash of the next line.
func (t *Tree) Append(leaf tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.edge) - 1
		leaf = tlog.NodeHash(t.edge[last], leaf)
		t.edge = t.edge[:last]
	}
	t.edge = append(t.edge, leaf)
	t.size++
}

// push adds the root of a full subtree of n leaves, which are not more than
// those of the last one.
func (t *Tree) push(root tlog.Hash, n int64) {
	t.edge = append(t.edge, root)
	t.size += n
}

// Edge gives what is kept of the tree, with which Resume goes on: as many
// hashes as its size has ones in binary.
func (t *Tree) Edge() []tlog.Hash { return append([]tlog.Hash{}, t.edge...) }

// Resume gives the tree of size leaves that has the edge. ok is false when
// there is none.
func Resume(size int64, edge []tlog.Hash) (t *Tree, ok bool) {
	if size < 0 || len(edge) != bits.OnesCount64(uint64(size)) {
		return nil, false
	}
	return &Tree{size: size, edge: append([]tlog.Hash(nil), edge...)}, true
}

// Size is the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Root is the hash of the whole tree.
func (t *Tree) Root() tlog.Hash {
	if t.size == 0 {
		return emptyRoot
	}
	root := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		root = tlog.NodeHash(t.edge[i], root)
	}
	return root
}

// A Prover makes the proof that one leaf is in a tree, in the memory that its
// path takes: the siblings of the path are neighbouring ranges of leaves, so
// that each leaf, in turn, belongs to one of them.
type Prover struct {
	index  int64
	size   int64
	next   int64
	ranges []span // in the order of the leaves
	order  []int  // of ranges, from the leaf to the root
}

type span struct {
	lo, hi int64
	tree   Tree
}

// NewProver is for the leaf at index, from 0 on, of a tree of size leaves.
// index < size.
func NewProver(index, size int64) *Prover {
	p := &Prover{index: index, size: size}
	var left, right []span // of the path, from the root down
	var sides []bool       // true is left
	for lo, hi := int64(0), size; hi-lo > 1; {
		half := int64(1)
		for half*2 < hi-lo {
			half *= 2
		}
		mid := lo + half
		if index < mid {
			right, sides = append(right, span{lo: mid, hi: hi}), append(sides, false)
			hi = mid
		} else {
			left, sides = append(left, span{lo: lo, hi: mid}), append(sides, true)
			lo = mid
		}
	}
	p.ranges = append(p.ranges, left...)
	for i := len(right) - 1; i >= 0; i-- { // the nearest comes first
		p.ranges = append(p.ranges, right[i])
	}
	l, r := len(left)-1, len(left)
	for i := len(sides) - 1; i >= 0; i-- {
		if sides[i] {
			p.order = append(p.order, l)
			l--
		} else {
			p.order = append(p.order, r)
			r++
		}
	}
	return p
}

// Append takes the leaf hash of the next line. Lines beyond the tree are left
// out.
func (p *Prover) Append(leaf tlog.Hash) {
	n := p.next
	p.next++
	if n == p.index {
		return
	}
	for i := range p.ranges {
		if r := &p.ranges[i]; n >= r.lo && n < r.hi {
			r.tree.Append(leaf)
			return
		}
	}
}

// Resume takes, in place of the first leaves, the tree over them: what it
// proves lies behind. Nothing may have been appended yet. ok is false where
// the leaf to prove is one of them, or not all of them are in the tree.
//
// Each sibling on the path is a full subtree that does not hold the leaf, and
// two subtrees lie in one another or apart; so that each part of the edge lies
// whole in one sibling.
func (p *Prover) Resume(t *Tree) (ok bool) {
	if p.next != 0 || t.size > p.index {
		return false
	}
	lo := int64(0)
	for _, h := range t.edge {
		n := int64(1) << (bits.Len64(uint64(t.size-lo)) - 1)
		for i := range p.ranges {
			if r := &p.ranges[i]; lo >= r.lo && lo+n <= r.hi {
				r.tree.push(h, n)
			}
		}
		lo += n
	}
	p.next = t.size
	return true
}

// Proof is the audit path (RFC 6962, section 2.1.1), nil while leaves are
// missing.
func (p *Prover) Proof() tlog.RecordProof {
	if p.next < p.size {
		return nil
	}
	proof := make(tlog.RecordProof, 0, len(p.order))
	for _, i := range p.order {
		proof = append(proof, p.ranges[i].tree.Root())
	}
	return proof
}
