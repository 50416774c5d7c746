package js

import (
	"unicode"
	"unicode/utf8"
)

// injected are the names that the runtime provides. A param or a static
// variable of the same name never replaces them.
var injected = map[string]bool{
	"args": true, "console": true, "fetch": true, "URL": true, "URLSearchParams": true, "atob": true, "btoa": true,
	"crypto": true, "safety": true, "TextEncoder": true, "TextDecoder": true, "structuredClone": true, "setTimeout": true,
	"clearTimeout": true, "queueMicrotask": true, "Intl": true, "Java": true, "globalThis": true, "eval": true,
	"Function": true, "Headers": true,
}

// reserved are the words that cannot be bound, in strict code or in an async
// function included, so that a directive in the body changes nothing.
var reserved = map[string]bool{
	"await": true, "break": true, "case": true, "catch": true, "class": true, "const": true, "continue": true,
	"debugger": true, "default": true, "delete": true, "do": true, "else": true, "enum": true, "export": true,
	"extends": true, "false": true, "finally": true, "for": true, "function": true, "if": true, "implements": true,
	"import": true, "in": true, "instanceof": true, "interface": true, "let": true, "new": true, "null": true,
	"package": true, "private": true, "protected": true, "public": true, "return": true, "static": true, "super": true,
	"switch": true, "this": true, "throw": true, "true": true, "try": true, "typeof": true, "var": true, "void": true,
	"while": true, "with": true, "yield": true, "arguments": true, "undefined": true, "NaN": true, "Infinity": true,
}

// bindable reports whether name can be a bare identifier of a program.
func bindable(name string) bool {
	return identifier(name) && !reserved[name] && !injected[name]
}

func identifier(name string) bool {
	if name == "" || !utf8.ValidString(name) {
		return false
	}
	for i, c := range name {
		if c < utf8.RuneSelf && identByte(byte(c)) && (i > 0 || c > '9' || c == '$') && c != '\\' {
			continue
		}
		start := c == '$' || c == '_' || unicode.In(c, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if start {
			continue
		}
		if i == 0 || !unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) {
			return false
		}
	}
	return true
}
