package checkpoint

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// stored is a whole tree as tlog keeps it.
type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = s[x]
	}
	return out, nil
}

// TestTreeIsTheLibrarys compares every tree and every proof of up to 70 leaves
// with those of tlog, which keeps all hashes.
func TestTreeIsTheLibrarys(t *testing.T) {
	var all stored
	var leaves []tlog.Hash
	var tree Tree
	if want, err := tlog.TreeHash(0, all); err != nil || tree.Root() != want || tree.Root() != tlog.Hash(sha256.Sum256(nil)) {
		t.Fatalf("the empty tree is %v, want %v, %v", tree.Root(), want, err)
	}
	for n := range int64(70) {
		line := fmt.Appendf(nil, "line %d", n)
		more, err := tlog.StoredHashes(n, line, all)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
		leaves = append(leaves, tlog.RecordHash(line))
		tree.Append(leaves[n])
		size := n + 1
		root, err := tlog.TreeHash(size, all)
		if err != nil || tree.Root() != root || tree.Size() != size {
			t.Fatalf("%d leaves: root %v, want %v, %v", size, tree.Root(), root, err)
		}
		for index := range size {
			p := NewProver(index, size)
			for i, leaf := range leaves {
				if p.Proof() != nil && i < int(size) {
					t.Fatalf("a proof after %d of %d leaves", i, size)
				}
				p.Append(leaf)
			}
			p.Append(leaves[0]) // beyond the tree
			want, err := tlog.ProveRecord(size, index, all)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Proof(), want) {
				t.Fatalf("leaf %d of %d: %v, want %v", index, size, p.Proof(), want)
			}
			if err := tlog.CheckRecord(p.Proof(), size, root, index, leaves[index]); err != nil {
				t.Fatal(err)
			}
		}
	}
}
