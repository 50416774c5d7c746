package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is one thing that a page does: a command that it shows, a command of its
// set-up that readers do not see, or a file that it prints.
type step struct {
	line   int
	what   string // "command", "setup", "file", or "not run"
	text   string // the command, or the name of the file, or why it is not run
	output string // what the page shows, the content of the file, or what is not run
}

// A page says more to the test than to its readers, in HTML comments:
//
//	<!-- not run: why -->     the next block is shown and not run
//	<!-- file: page.json -->  the next block is the content of a file
//	<!-- setup                commands of a shell, to the end of the comment,
//	...                       that make what the page takes for granted
//	-->
var (
	comment = regexp.MustCompile(`^<!-- (not run|file|setup)(?::? *(.*))?$`)
	bare    = regexp.MustCompile(`^(?:\.?[a-z/]*/)?(?:toolwarrant|go|curl) `)
)

// readPage takes a page apart. A block with commands is indented or fenced; a
// command begins with "$ ", goes on while a quotation is open or its line ends
// with a backslash, and its output ends with the next command or the block.
func readPage(page string) ([]step, error) {
	var steps []step
	var mark step
	lines := strings.Split(strings.ReplaceAll(page, "\r\n", "\n"), "\n")
	generated := strings.Contains(page, "<!-- Generated ")
	for i := 0; i < len(lines); i++ {
		if m := comment.FindStringSubmatch(lines[i]); m != nil {
			mark = step{line: i + 1, what: m[1], text: m[2]}
			for !strings.HasSuffix(mark.text, "-->") {
				if i++; i >= len(lines) {
					return nil, fmt.Errorf("line %d: the comment has no end", mark.line)
				}
				mark.text += "\n" + lines[i]
			}
			mark.text = strings.TrimSpace(strings.TrimSuffix(mark.text, "-->"))
			if mark.text == "" {
				return nil, fmt.Errorf("line %d: the comment says nothing", mark.line)
			}
			if mark.what == "setup" {
				steps, mark = append(steps, mark), step{}
			}
			continue
		}
		first, block := i+1, []string(nil)
		switch {
		case strings.HasPrefix(lines[i], "```"):
			first++
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				block = append(block, lines[i])
			}
		case strings.HasPrefix(lines[i], "    ") && (i == 0 || strings.TrimSpace(lines[i-1]) == "" || strings.HasSuffix(lines[i-1], "-->")):
			for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || strings.TrimSpace(lines[i]) == ""); i++ {
				block = append(block, strings.TrimPrefix(lines[i], "    "))
			}
			i--
		default:
			if mark.what != "" && strings.TrimSpace(lines[i]) != "" {
				return nil, fmt.Errorf("line %d: no block follows this comment", mark.line)
			}
			continue
		}
		text := strings.TrimRight(strings.Join(block, "\n"), "\n ")
		switch {
		case mark.what == "not run":
			mark.output, _, _ = strings.Cut(text, "\n")
			steps = append(steps, mark)
		case mark.what == "file":
			steps = append(steps, step{line: first, what: "file", text: mark.text, output: text + "\n"})
		case strings.Contains("\n"+text, "\n$ "):
			more, err := commands(first, text)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		default:
			for n, line := range strings.Split(text, "\n") {
				if bare.MatchString(line) && !generated {
					return nil, fmt.Errorf(`line %d: %q is a command that no test runs: begin it with "$ ", or say "<!-- not run: why -->" before the block`, first+n, line)
				}
			}
		}
		mark = step{}
	}
	return steps, nil
}

// commands reads the commands of one block.
func commands(first int, block string) ([]step, error) {
	var steps []step
	lines := strings.Split(block, "\n")
	for i := 0; i < len(lines); i++ {
		command, is := strings.CutPrefix(lines[i], "$ ")
		if !is && len(steps) == 0 {
			return nil, fmt.Errorf("line %d: %q stands before the first command", first+i, lines[i])
		}
		if !is {
			last := &steps[len(steps)-1]
			last.output += lines[i] + "\n"
			continue
		}
		s := step{line: first + i, what: "command"}
		for strings.HasSuffix(command, `\`) || strings.Count(command, "'")%2 == 1 {
			if i++; i >= len(lines) {
				return nil, fmt.Errorf("line %d: the command has no end", s.line)
			}
			command += "\n" + lines[i]
		}
		s.text = command
		steps = append(steps, s)
	}
	for i := range steps {
		steps[i].output = strings.TrimSpace(steps[i].output)
	}
	return steps, nil
}

func TestReadPage(t *testing.T) {
	const page = `# Title

<!-- setup
mkdir a
-->

    $ toolwarrant a 'x
      y'
    out

    more
    $ toolwarrant b \
      --c

Text.

<!-- file: a.json -->

` + "```json\n{}\n```" + `

<!-- not run: there is no browser -->
    $ browser

` + "```console\n$ toolwarrant d\n```\n"
	got, err := readPage(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{3, "setup", "mkdir a", ""},
		{7, "command", "toolwarrant a 'x\n  y'", "out\n\nmore"},
		{12, "command", "toolwarrant b \\\n  --c", ""},
		{20, "file", "a.json", "{}\n"},
		{23, "not run", "there is no browser", "$ browser"},
		{27, "command", "toolwarrant d", ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Error(diff)
	}
	for name, page := range map[string]string{
		"a command that nothing runs":  "text\n\n    toolwarrant serve\n",
		"output without its command":   "text\n\n    out\n    $ toolwarrant a\n",
		"a comment without end":        "<!-- setup\nmkdir a\n",
		"a mark without reason":        "<!-- not run: -->\n    $ a\n",
		"a mark of no block":           "<!-- not run: why -->\n\ntext\n\n    $ a\n",
		"a command without end":        "text\n\n    $ toolwarrant 'a\n",
		"a fenced one, without prompt": "```\n./toolwarrant serve\n```\n",
	} {
		if _, err := readPage(page); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
