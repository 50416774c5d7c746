package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// textTable is a table of text for a person. Every cell is made visible: names and
// reasons are an author's, and could otherwise steer the terminal or forge a
// row. No other file of this package writes a table.
type textTable struct{ w *tabwriter.Writer }

// newTable begins a table; a head without columns is none. End it with flush.
func newTable(out io.Writer, head ...string) textTable {
	t := textTable{tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)}
	if len(head) > 0 {
		fmt.Fprintln(t.w, strings.Join(head, "\t"))
	}
	return t
}

// add takes the cells of a row; empty ones at its end take no space.
func (t textTable) add(cells ...string) error {
	shown := make([]string, len(cells))
	for i, c := range cells {
		shown[i] = mask.Visible(c)
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(strings.Join(shown, "\t"), "\t"))
	return err
}

func (t textTable) flush() error { return t.w.Flush() }
