//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
)

// A part of the page is text, or a table where id is set.
type part struct {
	text string

	id      string
	columns []string // the first one is that of the names
	rows    []string
}

// lacks says which row is missing, or has another number of cells, "" = none.
func (p *part) lacks(m measured) string {
	for _, row := range p.rows {
		if got := len(m.rows[row]); got != len(p.columns)-1 {
			return fmt.Sprintf("the row %q has %d cells, not %d", row, got, len(p.columns)-1)
		}
	}
	if len(m.rows) != len(p.rows) {
		return fmt.Sprintf("%d rows were measured, and the table has %d", len(m.rows), len(p.rows))
	}
	return ""
}

func tableIDs() (out []string) {
	for _, p := range parts {
		if p.id != "" {
			out = append(out, p.id)
		}
	}
	return out
}

func tableOf(id string) *part {
	if i := slices.IndexFunc(parts, func(p part) bool { return p.id == id && id != "" }); i >= 0 {
		return &parts[i]
	}
	return nil
}

const (
	notMeasured = "not measured"
	tableMark   = "<!-- table: "
)

// page writes the page with these figures.
func page(found map[string]measured) string {
	var b strings.Builder
	for _, p := range parts {
		if p.id == "" {
			b.WriteString(p.text + "\n\n")
			continue
		}
		m := found[p.id]
		if m.about == "" {
			m.about = notMeasured
		}
		i := slices.IndexFunc(measurements, func(m measurement) bool { return slices.Contains(m.tables, p.id) })
		fmt.Fprintf(&b, "%s%s -->\n`%s`: %s.\n\n| %s |\n|%s\n", tableMark, p.id, measurements[i].command(false), m.about, strings.Join(p.columns, " | "), strings.Repeat("---|", len(p.columns)))
		for _, row := range p.rows {
			cells := m.rows[row]
			if cells == nil {
				cells = slices.Repeat([]string{"-"}, len(p.columns)-1)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", row, strings.Join(cells, " | "))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// readPage finds the figures of a page. What it cannot read is left out.
func readPage(text string) map[string]measured {
	found := map[string]measured{}
	for _, block := range strings.Split(text, tableMark)[1:] {
		id, rest, _ := strings.Cut(block, " -->\n")
		about, rest, _ := strings.Cut(rest, "\n\n")
		_, about, ok := strings.Cut(about, "`: ")
		if about = strings.TrimSuffix(about, "."); !ok || about == notMeasured {
			continue
		}
		m := measured{about: about, rows: map[string][]string{}}
		for i, line := range strings.Split(rest, "\n") {
			line, ok := strings.CutPrefix(line, "| ")
			if !ok && i > 1 {
				break
			}
			if cells := strings.Split(strings.TrimSuffix(line, " |"), " | "); i > 1 {
				m.rows[cells[0]] = cells[1:]
			}
		}
		found[id] = m
	}
	return found
}

var parts = []part{
	{text: `# Performance

<!-- Made by go run ./bench page. What it says is in bench/pagetext.go. Do not edit. -->

Above each table stand the command that measured it, the machine and the day. What a ratio compares was measured in one run and in turns, so that other work on the machine changes it less than the times: trust the ratios.

<!-- not run: they measure for minutes and write this page -->
    go run ./bench page                      # all of it anew, in a quarter of an hour
    go run ./bench page -only worker,engine  # some tables; the others keep their figures, with their own day
    go run ./bench page -quick               # short runs, to see that all of it works

On a machine that does something else, the line above a table says how much of the processors that took.

## A governed call against a bare one

Two servers are loaded in turns by the same clients: an echo tool on the bare MCP SDK, and toolwarrant with everything on (decision, fresh virtual machine, open and close record on disk). Protocol 2026-07-28, JSON over loopback, 64 clients. CPU is that of the server.`},
	{id: "call", columns: []string{"", "CPU of a call, bare", "governed", "ratio", "calls/s, bare", "governed", "ratio", "median, bare", "governed", "memory, bare", "governed"}, rows: []string{"GOGC=100", "GOGC=400"}},
	{text: `Evaluations run on as many long-lived goroutines as there are cores, because a fresh goroutine spends about half of a decision on growing its stack.

## A floor for the heap

` + "`serve` has the garbage collector run only once 64 MiB were allocated (`limits.heap-floor-bytes`). This is the governed server of the table above, with GOGC=100, without and with it:"},
	{id: "floor", columns: []string{"governed", "CPU of a call", "over without", "collections in 1,000 calls", "memory"}, rows: []string{"without a floor", "with a floor"}},
	{text: `## The decision against a bare evaluation

Documents of the policy that read nothing but the tool and its layers are computed once for each tool and policy revision, and handed to later evaluations as their cache: most of a decision, in the policy that ships. Which documents these are follows from the text of the rules, also of your own: a rule that reads the caller, the arguments or the time, and all that is made of it, is evaluated for each call.

CPU, median of 7, of a decision about a tool that was decided about before, beside a bare evaluation of the same query and input with nothing remembered:`},
	{id: "decision", columns: []string{"Tool", "decision", "bare evaluation", "ratio", "the first decision costs more by"}, rows: []string{"L0", "L3", "L5"}},
	{text: `What larger layers make of a decision:`},
	{id: "growth", columns: []string{"With", "CPU over without"}, rows: []string{"1,000 more classes in the layers", "8 profiles in place of 1"}},
	{text: "Layers are folded and checked in CUE once per policy revision, tool and profile chain; no CUE runs on the call path. With a shadow policy a call takes a second decision, which is made beside the tool's run (`go test ./service -run xxx -bench Shadow -benchmem`).\n\n" +
		"`bench/naive` is the same policy as a first author would write it; a test holds both to the same decision for generated inputs and the 88 known tools. The shipped policy as the resolver asks it, over the plain one, CPU, median of 7:"},
	{id: "naive", columns: []string{"Tool", "decided about before", "for the first time"}, rows: []string{"L0", "L3", "L5", "88 tools"}},
	{text: `For the first time, the rules alone are compared: nothing is remembered, and the shipped ones are given the folded layers.

## Listing many tools

CPU for the question which of 10,000 tools a caller may see, for 100 callers, one after the other. It is the policy alone, without catalog and encoding.`},
	{id: "visible", columns: []string{"Tools", "first list", "next caller", "the same again"}, rows: []string{"alike", "each its own", "alike, with rules", "each its own, with rules"}},
	{text: "*Alike* are tools that ask for nothing, *each its own* are tools of which no two ask for the same host. The rules read the groups of the caller, the category and the name.\n\n" +
		"A server asks about its tools beside the calls when it starts and when policy or catalog change, so that a caller finds the answers; one who comes earlier waits for them. An answer is remembered by what the rules read to give it: tools that are equal there are evaluated once. A policy whose `access` rules name tools for a caller tells those apart, so name groups and categories where they say the same.\n\n" +
		"A whole `tools/list` over HTTP, 10,000 tools of the 88 known shapes (every fiftieth with a host of its own), 6 MiB in two pages, for 100 callers. CPU of the server process; a repeated list stands beside a handler of the same `net/http` server that writes the same bytes from memory:"},
	{id: "list", columns: []string{"Callers", "first list", "of each next caller", "repeated, over its bytes", "memory at most"}, rows: []string{"all see the same", "no two see the same"}},
	{text: "The aims are 1.5 s and x3. The list is encoded once and remembered in at most 64 MiB for all callers together. It does not go through the encoder of the MCP library, which checks and copies a result twice.\n\n" +
		"`catalog list` decides about each tool as `resolve` does, on all cores.\n\n" +
		"## The virtual machine\n\n" +
		"Globals are installed when the source names them. A compiled program is kept and shared; a virtual machine serves one call. A whole call of a tool of 60 lines (compiled program found, world built, statements counted, result written) beside the bare engine that does the same work: CPU, median of 7, with the collector (GOGC 400) and the scheduler (one thread) of a worker. The limit is 1.15 times the engine and 0.1 ms:"},
	{id: "engine", columns: []string{"Input", "engine", "call", "ratio"}, rows: []string{"20 lines", "200 lines", "2000 lines"}},
	{text: `Counting statements, over the same code without it, CPU, median of 7. The first six do nothing but compute:`},
	{id: "counting", columns: []string{"Program", "ratio"}, rows: []string{"fib", "empty loop", "sieve", "map filter reduce", "objects", "strings and maps", "mean over the bundled tools"}},
	{text: `## The worker process`},
	{id: "worker", columns: []string{"What", ""}, rows: []string{
		"tiny call, median: inside the process of the caller", "the same through a worker", "100 calls that compute: two workers over one",
		"a call that hangs in the engine: answered after its deadline, at most", "the next call after a killed worker, at most", "start of a worker, locked, median",
	}},
	{text: "The tiny calls run in turns of 200 of each kind. `go test ./executor/process -run TestSoak -soak 200000 -v` says whether anything grows.\n\n" +
		"A worker keeps one scheduler thread, collects rarely (GOGC 400) and is replaced after 500 calls. Between two calls it makes the virtual machine for the next call of the same program. A reply that is likely to come at once is polled for, and so is the next call where calls come close together, for 0.3 ms at most and only while processors are to spare.\n\n" +
		"## The audit log\n\n" +
		"The records of real calls, written again, an open and a close for each call, under each choice of `audit.fsync` in turns, by 64 calls at a time. The latency is what both add to a call; it is that of the disk:"},
	{id: "fsync", columns: []string{"audit.fsync", "calls/s", "over every", "CPU of a record", "added latency, median", "p99"}, rows: []string{"every", "group", "interval"}},
	{text: `The parts of a close, CPU, the best of some rounds:`},
	{id: "record", columns: []string{"Record", "bytes", "masking", "encoding", "sum and chain"}, rows: []string{"as real ones are", "with all that a record can hold"}},
	{text: `A log of a million closes, verified:`},
	{id: "verify", columns: []string{"Log", "size", "CPU, of all cores", "memory at most"}, rows: []string{"plain", "compressed"}},
	{text: "## What costs time elsewhere\n\n" +
		"A policy folder runs its own tests when it is activated for the first time: some seconds of CPU for those of the built-in one. What passed is remembered ([policy.md](policy.md)). The built-in policy is tested by this repository's gate."},
}
