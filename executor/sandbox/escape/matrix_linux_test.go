package escape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/internal/nobody"
)

// The outcomes of a cell.
const (
	held   = "held"
	open   = "open"
	absent = "absent" // nothing here to attempt
	broken = "broken" // the attempt could not be made
)

// A cell is one attempt in one column.
type cell struct {
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// A result is a column with its cells, by probe.
type result struct {
	Name        string              `json:"name"`
	Enforcement sandbox.Enforcement `json:"-"`
	Levels      map[string]string   `json:"enforcement,omitempty"`
	Cells       map[string]cell     `json:"cells"`
}

// marker is before the result that a run as nobody hands back.
const marker = "matrix-result: "

// TestMatrix makes every attempt in every sandbox that works here.
func TestMatrix(t *testing.T) {
	r := newRig(t)
	user := "nobody"
	if os.Getuid() == 0 {
		user = "root"
	}
	var results []result
	for _, f := range factories(t) {
		t.Run(f.ID(), func(t *testing.T) {
			c, err := r.backend(t, f)
			if err != nil {
				t.Fatalf("its probe worked, and no sandbox can be made: %v", err)
			}
			defer c.close()
			results = append(results, r.column(t, c, user))
		})
	}
	if *matrixDir != "" {
		for _, c := range r.peers(t) {
			t.Run(c.name, func(t *testing.T) { results = append(results, r.column(t, c, user)) })
		}
	}
	if os.Getuid() != 0 {
		line, err := json.Marshal(results)
		must(t, err)
		fmt.Println(marker + string(line))
		return
	}
	if *matrixDir == "" {
		return
	}
	t.Run("nobody", func(t *testing.T) { results = append(results, r.asNobody(t)...) })
	write(t, r, results)
}

// asNobody runs the table once more, as a user without any right.
func (r *rig) asNobody(t *testing.T) []result {
	t.Helper()
	must(t, os.Chmod(filepath.Dir(r.probe), 0o755))
	agentProgram(t)
	env := []string{"ESCAPE_PROBE=" + r.probe, "ESCAPE_GIVEN=" + r.given}
	if kernel := os.Getenv(kernelVariable); kernel != "" {
		env = append(env, kernelVariable+"="+kernel)
	}
	run := "-test.run=^TestMatrix$"
	if *only != "" {
		run += "/^(" + strings.ReplaceAll(*only, ",", "|") + ")$"
	}
	out, err := nobody.Rerun(t, env, run, "-test.v", "-matrix=.", "-backends="+*only)
	var results []result
	for line := range strings.Lines(out) {
		if _, text, ok := strings.Cut(line, marker); ok {
			must(t, json.Unmarshal([]byte(text), &results))
		} else if strings.Contains(line, "_test.go") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("as nobody: %v", err)
	}
	return results
}

// column makes the attempts and asserts what was promised.
func (r *rig) column(t *testing.T, c column, user string) result {
	t.Helper()
	got := result{Name: c.name + " (" + user + ")", Enforcement: c.enforcement, Levels: map[string]string{}, Cells: map[string]cell{}}
	for d, s := range c.enforcement {
		got.Levels[string(d)] = s.Level.String()
	}
	count := map[string]int{}
	for _, p := range r.list {
		if p.Slow && *matrixDir == "" {
			continue
		}
		one := judge(p, c.run(t, p))
		got.Cells[p.Name] = one
		count[one.Outcome]++
		if c.enforcement == nil {
			continue
		}
		strength := c.enforcement[p.Dimension]
		switch {
		case one.Outcome == broken:
			t.Errorf("%s: %s", p.Name, one.Detail)
		case one.Outcome == open && strength.Level == sandbox.Full:
			t.Errorf("%s is silently open: %s; %s is said to be enforced by %s", p.Name, one.Detail, p.Dimension, strength.By)
		case one.Outcome == open:
			t.Logf("%s is open, as said: %s is %v (%s): %s", p.Name, p.Dimension, strength.Level, strength.By, one.Detail)
		}
	}
	t.Logf("%s: %d held, %d open, %d absent, %d could not be made", got.Name, count[held], count[open], count[absent], count[broken])
	return got
}

// write makes the table, and says which attempts were never seen to succeed.
func write(t *testing.T, r *rig, results []result) {
	t.Helper()
	text, err := json.MarshalIndent(results, "", "  ")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(*matrixDir, "matrix.json"), append(text, '\n'), 0o644))
	var b strings.Builder
	b.WriteString("| probe | dimension |")
	for _, res := range results {
		b.WriteString(" " + res.Name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(results)) + "\n")
	var never []string
	for _, p := range r.list {
		fmt.Fprintf(&b, "| %s | %s |", p.Name, p.Dimension)
		seen := false
		for _, res := range results {
			c := res.Cells[p.Name]
			seen = seen || c.Outcome == open
			text := c.Outcome
			if c.Outcome == open {
				text = "**open**"
				if res.Enforcement != nil || len(res.Levels) > 0 {
					text += " (" + res.Levels[string(p.Dimension)] + ")"
				}
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		if !seen {
			never = append(never, p.Name)
		}
		b.WriteByte('\n')
	}
	// What each said of itself before the run.
	for _, d := range sandbox.Dimensions() {
		fmt.Fprintf(&b, "| _said before_ | %s |", d)
		for _, res := range results {
			fmt.Fprintf(&b, " %s |", cmp.Or(res.Levels[string(d)], "–"))
		}
		b.WriteByte('\n')
	}
	slices.Sort(never)
	fmt.Fprintf(&b, "\nNever open in this run, so that it is not shown here that they can fail: %s.\n", strings.Join(never, ", "))
	must(t, os.WriteFile(filepath.Join(*matrixDir, "matrix.md"), []byte(b.String()), 0o644))
	t.Logf("%d of %d attempts were open in some column; the table is in %s", len(r.list)-len(never), len(r.list), *matrixDir)
}
