// Package optional writes the rule of the stored and exchanged formats that a
// field without value is null, and not absent and not its zero.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package optional

// Of points to v; it is nil, which encodes as null, where v is the zero of its
// type.
func Of[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
