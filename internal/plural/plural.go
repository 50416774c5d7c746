// Package plural writes a number with what is counted, as one says it.
//
// It is a leaf: any package may import it and it imports nothing of ours.
package plural

import "fmt"

// Of is n and its noun: 1 record, 2 records.
func Of[N ~int | ~int64 | ~uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
