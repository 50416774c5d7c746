package nearest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestPowersOfNode holds powers against those of node, whose last digit is now
// and then one step off. Where the two differ, the reference decides.
func TestPowersOfNode(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "probes", "powers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]string
	if err := json.Unmarshal(data, &rows); err != nil || len(rows) < 1500 {
		t.Fatal(len(rows), err)
	}
	differ := 0
	for _, row := range rows {
		var v [3]float64
		for i, digits := range row {
			n, err := strconv.ParseUint(digits, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			v[i] = math.Float64frombits(n)
		}
		got, node := Pow(v[0], v[1]), v[2]
		if math.Float64bits(got) == math.Float64bits(node) || got != got && node != node {
			continue
		}
		differ++
		if step := math.Nextafter(got, node); step != node || got != rounded(bigPow(v[0], v[1])) {
			t.Errorf("%v ** %v is %v, want %v or what is nearest", v[0], v[1], got, node)
		}
	}
	if differ > len(rows)/10 {
		t.Errorf("%d of %d differ", differ, len(rows))
	}
}
