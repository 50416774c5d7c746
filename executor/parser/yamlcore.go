package parser

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The scalars of the core schema (YAML 1.2.2, 10.3.2). The library reads some
// of YAML 1.1 beside it: 010 as eight, 1_000 and 0b1 as numbers.
var (
	coreInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	coreOctal = regexp.MustCompile(`^0o[0-7]+$`)
	coreHex   = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	coreFloat = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// coreTag is the tag of a scalar: the one that it is given, or the one that
// the core schema finds for it where it has no quotes.
func coreTag(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle != 0 {
		return n.ShortTag()
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return "!!str"
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return "!!null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "!!bool"
	case "<<":
		return "!!merge"
	}
	switch {
	case coreInt.MatchString(n.Value), coreOctal.MatchString(n.Value), coreHex.MatchString(n.Value):
		return "!!int"
	case coreFloat.MatchString(n.Value), special(n.Value):
		return "!!float"
	}
	return "!!str"
}

// special says that a text is one of the numbers that JSON lacks.
func special(text string) bool {
	switch strings.TrimLeft(text, "+-") {
	case ".inf", ".Inf", ".INF":
		return len(text) <= len("+.inf")
	case ".nan", ".NaN", ".NAN":
		return len(text) == len(".nan")
	}
	return false
}

// coreNumber writes a number of the core schema as JSON, or reports that the
// text is none, or none that JSON can hold.
func coreNumber(tag, text string) (out, problem string) {
	const tooLarge = "a number that JSON cannot hold"
	switch {
	case special(text) && tag == "!!float":
		return "", tooLarge
	case coreInt.MatchString(text), tag == "!!float" && coreFloat.MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return "", tooLarge
		}
		return jsonNumber(f), ""
	case coreOctal.MatchString(text), coreHex.MatchString(text):
		base := 16
		if text[1] == 'o' {
			base = 8
		}
		n, _ := new(big.Int).SetString(text[2:], base)
		f, _ := new(big.Float).SetInt(n).Float64()
		if math.IsInf(f, 0) {
			return "", tooLarge
		}
		return jsonNumber(f), ""
	}
	return "", "the value does not fit its tag"
}

// jsonNumber writes a double so that JSON gives the same one back. There is
// one zero.
func jsonNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
