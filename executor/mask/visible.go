package mask

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible rewrites what a person cannot see, or what changes how the rest is
// shown: control, bidirectional, zero-width and other format characters,
// fillers, variation selectors, unusual spaces, private and unassigned code
// points and invalid UTF-8. They appear as the escapes \n, \r, \t, \u202e,
// \u{e0041} or \xff; everything else stays. Use it, after masking, for
// prompts and terminals.
func Visible(s string) string {
	at := strings.IndexFunc(s, hidden)
	if at < 0 {
		return s // IndexFunc sees invalid UTF-8 as U+FFFD, which is hidden
	}
	var b strings.Builder
	b.WriteString(s[:at])
	for i := at; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == utf8.RuneError || !hidden(r):
			b.WriteString(s[i : i+size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// blank are graphic characters that show nothing.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille blank
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}}, // tags and selectors
}

func hidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	if r == utf8.RuneError {
		return true // possibly an invalid byte: the caller looks again
	}
	return !unicode.IsPrint(r) || unicode.Is(blank, r)
}
