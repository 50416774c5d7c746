// Package suggest finds the known word that a person probably meant by an
// unknown one, for the end of an error message. It imports nothing; any
// package may use it.
package suggest

import "strings"

// maxWord bounds the words that are compared, since the cost is their product
// and an unknown word can be anything.
const maxWord = 64

// Nearest gives the known word with the fewest edits from word, letter case
// aside, if they are few enough for a slip to explain them; of equals the one
// that sorts first. It gives "" when there is none.
func Nearest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, fewest := "", max(2, len(word)/3)+1
	for _, k := range known {
		if k == "" {
			continue
		}
		n := Distance(strings.ToLower(word), strings.ToLower(k))
		if n < fewest || n == fewest && best != "" && k < best {
			best, fewest = k, n
		}
	}
	return best
}

// Distance is the Levenshtein distance of a and b, in bytes.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
