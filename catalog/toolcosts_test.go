package catalog_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/broker"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// toolsPage is what a person reads about the bundled tools as a whole.
var toolsPage = filepath.Join("..", "docs", "tools.md")

// A row of toolsPage: | name | category | level | asks | statements | share | ms |
var costRow = regexp.MustCompile(`(?m)^\| \[(\w+)\]\([^)]*\) \|(.*)\| ([\d.]+) \| ([\d.]+) % \| [\d.]+ \|$`)

// drawn is the tool that does as much as its die says: its row may be off by
// half. All others take the same number of statements each time.
const drawn = "passwordGenerate"

// runs is over how many calls with the testValues statements are averaged.
const runs = 5

// TestToolCosts holds the table of docs/tools.md: every tool is in it with
// what the policy says of it, and the number of statements is what a call with
// the testValues costs. The times are printed there and held by nothing.
func TestToolCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	tools := bundledTools(t)
	policy := builtinPolicy(t, resolver.Operator{})
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	rows, means := map[string]string{}, map[string]float64{}
	var lines []string
	for _, tool := range tools {
		name, total, took := tool.Spec.Name, int64(0), time.Duration(0)
		for range runs {
			c, effects, failure := prepared(t, tool, catalog.Case{}, policy, broker.Options{}, 0, nil)
			if failure != nil {
				t.Fatalf("%s: %+v", name, failure)
			}
			began := time.Now()
			reply, err := rt.Run(context.Background(), c, effects)
			took += time.Since(began)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Failure != nil || reply.Usage.Statements == nil {
				t.Fatalf("%s: %+v", name, reply.Failure)
			}
			total += *reply.Usage.Statements
		}
		means[name] = float64(total) / runs
		if means[name] > budget/5 {
			t.Errorf("%s takes %.0f statements, more than a fifth of %d", name, means[name], budget)
		}
		d := decide(t, policy, tool)
		asks := map[string]string{"REQUIRED": "always", "DISABLED": "never"}[d.HumanInTheLoop.Mode]
		rows[name] = fmt.Sprintf(" %s | %s | %s ", tool.Spec.Category, d.RiskLevel, asks)
		lines = append(lines, fmt.Sprintf("| [%s](../catalog/tools/%s) |%s| %s | %.3f %% | %.2f |", name, name, rows[name],
			strconv.FormatFloat(means[name], 'f', -1, 64), means[name]/budget*100, float64(took.Microseconds())/1000/runs))
	}
	page, err := os.ReadFile(toolsPage)
	if err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		head, _, _ := strings.Cut(string(page), "\n| tool |")
		table := "\n| tool | category | level | a person is asked | statements | of the budget | ms |\n|---|---|---|---|---|---|---|\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(toolsPage, []byte(head+table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	const how = "go test ./catalog -run '^TestToolCosts$' -update rewrites docs/tools.md"
	written := map[string]string{}
	for _, m := range costRow.FindAllStringSubmatch(string(page), -1) {
		written[m[1]] = m[2]
		says, _ := strconv.ParseFloat(m[3], 64) // the pattern has digits alone
		if is := means[m[1]]; m[1] != drawn && is != says || is > 2*says || says > 2*is {
			t.Errorf("%s takes %.1f statements, not %.1f; %s", m[1], is, says, how)
		}
	}
	if diff := gocmp.Diff(rows, written); diff != "" {
		t.Errorf("%s (-want +got):\n%s", how, diff)
	}
}

// TestLeapDays: a schedule that is due once in four years or more costs no
// more than a fifth of the budget either.
func TestLeapDays(t *testing.T) {
	tools := map[string]*catalog.Tool{}
	for _, tool := range bundledTools(t) {
		tools[tool.Spec.Name] = tool
	}
	if tools["cronNext"] == nil {
		t.Fatal(slices.Sorted(maps.Keys(tools)))
	}
	policy := builtinPolicy(t, resolver.Operator{})
	rt := js.New(js.Options{})
	defer func() { _ = rt.Close() }()
	for args, want := range map[string]string{
		`{"expression": "0 0 29 2 *", "from": "2044-02-29T00:00:00Z", "count": 1}`: `["2048-02-29T00:00:00.000Z"]`,
		`{"expression": "0 0 29 2 *", "from": "2026-01-01", "count": 6}`: `["2028-02-29T00:00:00.000Z","2032-02-29T00:00:00.000Z","2036-02-29T00:00:00.000Z",` +
			`"2040-02-29T00:00:00.000Z","2044-02-29T00:00:00.000Z","2048-02-29T00:00:00.000Z"]`,
		// 2100 is no leap year: eight years lie between.
		`{"expression": "0 0 29 2 *", "from": "2096-03-01", "count": 1}`: `["2104-02-29T00:00:00.000Z"]`,
		// Both day fields hold where one begins with a star: a Sunday is due in 2032.
		`{"expression": "59 23 29 2 */7", "from": "2026-01-01", "count": 1}`: `["2032-02-29T23:59:00.000Z"]`,
	} {
		reply := call(t, rt, tools["cronNext"], catalog.Case{Args: []byte(args)}, policy, broker.Options{})
		if string(reply.Result) != want {
			t.Errorf("%s: got %s, %+v", args, reply.Result, reply.Failure)
		}
		if n := reply.Usage.Statements; n == nil || *n > budget/5 {
			t.Errorf("%s: %v statements", args, n)
		}
	}
}
