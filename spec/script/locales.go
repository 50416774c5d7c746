package script

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// What the runtime knows of locales. It is here so that a literal which it does
// not know is refused when the code is loaded; the runtime asks the same lists
// for what only shows when the code runs.

// IntlClasses are the members of Intl that exist.
var IntlClasses = []string{"DateTimeFormat", "NumberFormat"}

// intlAbsent are the members that the language has and the runtime has not,
// with what to use instead.
var intlAbsent = map[string]string{
	"Collator":            "use localeCompare",
	"DisplayNames":        "write the names out",
	"DurationFormat":      "write the text in code",
	"ListFormat":          "use join",
	"Locale":              "use the text of the locale",
	"PluralRules":         "choose the text in code",
	"RelativeTimeFormat":  "write the text in code",
	"Segmenter":           "use Array.from, which gives code points",
	"getCanonicalLocales": "use the text of the locale",
	"supportedValuesOf":   "write the values out",
}

// formatLocales are those that have a table, by their names in lower case.
var formatLocales = map[string]string{"en": "en", "en-us": "en-US", "en-ca": "en-CA", "en-gb": "en-GB", "de": "de", "de-de": "de-DE",
	"fr": "fr", "fr-fr": "fr-FR", "ko": "ko", "ko-kr": "ko-KR", "ja": "ja", "ja-jp": "ja-JP"}

// FormatLocale gives the name of a locale of dates and numbers as it is
// written, "" for one that is not known.
func FormatLocale(name string) string { return formatLocales[strings.ToLower(name)] }

// FormatLocaleAdvice says which locales there are instead of this one.
func FormatLocaleAdvice(name string) string {
	return "the locale " + short(name) + " is not supported; use en-US, en-CA, en-GB, de, fr, ko or ja"
}

// compareLanguages are those of localeCompare.
var compareLanguages = []string{"ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "is", "it", "ja", "ko",
	"lt", "lv", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk", "vi"}

// wellFormed is what the language takes for a locale: language, script, region,
// variants and extensions (ECMA-402 6.2.1).
var wellFormed = regexp.MustCompile(`(?i)^([a-z]{2,3}|[a-z]{5,8})(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*` +
	`(-[0-9a-wyz](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?$`)

// CompareLocale reads a locale of localeCompare: its tag and its language, or
// why it is not known.
func CompareLocale(name string) (tag language.Tag, base, problem string) {
	if !wellFormed.MatchString(name) {
		return tag, "", "Incorrect locale information provided"
	}
	unknown := "the locale " + short(name) + " is not supported for comparing; known are " + strings.Join(compareLanguages, ", ")
	tag, err := language.Parse(name)
	if err != nil {
		return tag, "", unknown
	}
	b, _ := tag.Base()
	own, _ := language.Compose(b)
	usual, _ := own.Script()
	if script, _ := tag.Script(); len(tag.Extensions()) > 0 || script != usual || !slices.Contains(compareLanguages, b.String()) {
		return tag, "", unknown
	}
	return tag, b.String(), ""
}

// Options are the values that options may have, by their names. One without
// values is not implemented. Options that take any value are not among them.
type Options map[string][]string

var (
	numberStyles = []string{"numeric", "2-digit"}
	textStyles   = []string{"long", "short", "narrow"}
	wholeStyles  = []string{"full", "long", "medium", "short"}
	matchers     = []string{"lookup", "best fit"}
)

// CompareOptions are the options of localeCompare. What searches is in some
// languages another order than what sorts.
var CompareOptions = Options{
	"usage":             {"sort"},
	"localeMatcher":     matchers,
	"caseFirst":         {"false"},
	"collation":         {"default"},
	"ignorePunctuation": {"false"},
	"sensitivity":       {"base", "accent", "case", "variant"},
}

// DateOptions are those of Intl.DateTimeFormat.
var DateOptions = Options{
	"era": nil, "dayPeriod": nil,
	"calendar":        {"gregory", "iso8601"},
	"numberingSystem": {"latn"},
	"localeMatcher":   matchers,
	"formatMatcher":   {"basic", "best fit"},
	"weekday":         textStyles,
	"year":            numberStyles,
	"month":           {"numeric", "2-digit", "long", "short", "narrow"},
	"day":             numberStyles,
	"hour":            numberStyles,
	"minute":          numberStyles,
	"second":          numberStyles,
	"timeZoneName":    {"short", "long", "shortOffset", "longOffset"},
	"dateStyle":       wholeStyles,
	"timeStyle":       wholeStyles,
	"hourCycle":       {"h11", "h12", "h23", "h24"},
}

// NumberOptions are those of Intl.NumberFormat.
var NumberOptions = Options{
	"unit": nil, "compactDisplay": nil,
	"style":               {"decimal", "percent", "currency"},
	"notation":            {"standard"},
	"roundingMode":        {"halfExpand"},
	"roundingIncrement":   {"1"},
	"roundingPriority":    {"auto"},
	"trailingZeroDisplay": {"auto"},
	"numberingSystem":     {"latn"},
	"signDisplay":         {"auto", "always", "never", "exceptZero", "negative"},
	"currencyDisplay":     {"symbol", "narrowSymbol", "code"},
	"currencySign":        {"standard", "accounting"},
}

// Refusal says why an option cannot have a value, or nothing.
func (o Options) Refusal(name, value string) string {
	switch values, listed := o[name]; {
	case !listed || slices.Contains(values, value):
		return ""
	case len(values) == 0:
		return "the option " + name + " is not supported"
	default:
		return "the value " + short(value) + " is not supported for the option " + name + "; known are " + strings.Join(values, ", ")
	}
}

// short keeps the texts of errors short.
func short(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}
