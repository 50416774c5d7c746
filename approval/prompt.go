package approval

import (
	"fmt"
	"strings"
	"unicode"
)

// DefaultTemplate is the prompt of a tool whose template is blank.
const DefaultTemplate = "Approve running tool '{toolName}' with arguments {args}?"

// Prompt fills a prompt template: {toolName} and {args}, literally and in one
// pass, so that argument text which contains a placeholder stays text. Other
// spellings, such as {args.path}, are no placeholders. Everything that an
// author or a caller wrote is made Visible first. A blank template becomes
// DefaultTemplate after the risk level, if there is one.
func Prompt(template, toolName, maskedArgs, level string) string {
	if strings.TrimSpace(template) == "" {
		template = DefaultTemplate
		if level != "" {
			template = "[risk " + level + "] " + template
		}
	}
	lines := strings.Split(strings.ReplaceAll(template, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = Visible(l)
	}
	return strings.NewReplacer("{toolName}", Visible(toolName), "{args}", Visible(maskedArgs)).
		Replace(strings.Join(lines, "\n"))
}

// Visible replaces every character that a human would not see, or that moves
// the others around, by its JSON escape: controls, bidirectional and other
// format characters, line and paragraph separators, blanks that are not a
// plain space, variation selectors, unassigned and private code points, and
// bytes that are not UTF-8. Visible of its own result is the same.
func Visible(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i]) // a byte that is not UTF-8
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case unicode.ReplacementChar,
		0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // letters and marks without ink
		return true
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r)
}
