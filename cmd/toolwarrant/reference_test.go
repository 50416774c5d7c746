package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var updateReference = flag.Bool("update-reference", false, "write docs/cli.md")

// TestCommandReference keeps docs/cli.md what the commands say of themselves.
// go test ./cmd/toolwarrant -run TestCommandReference -update-reference
func TestCommandReference(t *testing.T) {
	got := commandReference()
	page := filepath.Join("..", "..", "docs", "cli.md")
	if *updateReference {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Error("docs/cli.md is not what the commands say; run this test with -update-reference")
	}
}

// commandReference is the page of all commands, in the order of the names.
func commandReference() string {
	var b strings.Builder
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	fmt.Fprintf(&b, "# Commands\n\n<!-- Generated from the commands by the tests of cmd/toolwarrant. Do not edit. -->\n\n%s\n\n", root.Long)
	b.WriteString("Every command takes these flags:\n\n")
	flagsOf(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		commandOf(&b, c)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func commandOf(b *strings.Builder, c *cobra.Command) {
	if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
		return
	}
	fmt.Fprintf(b, "%s %s\n\n%s.\n\n    %s\n\n", strings.Repeat("#", 1+strings.Count(c.CommandPath(), " ")), c.CommandPath(), c.Short, c.UseLine())
	if c.Long != "" {
		// What a person reads in a terminal stays as it was set there.
		b.WriteString(indented(c.Long))
	}
	if c.Example != "" {
		b.WriteString("Examples:\n\n" + indented(c.Example))
	}
	flagsOf(b, c.NonInheritedFlags())
	for _, sub := range c.Commands() {
		commandOf(b, sub)
	}
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String() + "\n"
}

// flagsOf is the table of a set of flags.
func flagsOf(b *strings.Builder, flags *pflag.FlagSet) {
	rows := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows == 0 {
			b.WriteString("| Flag | Meaning | Default |\n|---|---|---|\n")
		}
		rows++
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		def := f.DefValue
		if def == "[]" || def == "false" || def == "0" || def == "0s" {
			def = ""
		}
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"), def)
	})
	if rows > 0 {
		b.WriteString("\n")
	}
}
