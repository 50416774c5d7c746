package js

import (
	"embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed intldata/*.txt
var intlFiles embed.FS

// localeData are the patterns and names of one locale, see
// intldata/generate.mjs. A pattern is found by a letter and the digits of its
// options.
type localeData struct {
	patterns       map[string]string
	lists          [][]string
	cycle          string
	decimal, group string
	shapes         map[string]string    // of percent and currency, by kind and sign
	symbols        map[string][2]string // of a currency: symbol and narrow symbol
	position       int                  // of the locale in a set of zone names
}

// dataOf are the locales that have a table.
var dataOf = map[string]func() *localeData{}

func init() {
	for i, l := range []string{"en", "en-CA", "en-GB", "de", "fr", "ko", "ja"} {
		dataOf[l] = sync.OnceValue(func() *localeData { return readLocale(l, i) })
	}
}

// eachLine gives the fields of the lines of a table.
func eachLine(name string, each func(f []string)) {
	b, err := intlFiles.ReadFile("intldata/" + name + ".txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if line != "" && line[0] != '#' {
			each(strings.Split(line, "\t"))
		}
	}
}

func readLocale(name string, position int) *localeData {
	d := &localeData{patterns: map[string]string{}, shapes: map[string]string{}, symbols: map[string][2]string{}, position: position}
	eachLine(name, func(f []string) {
		switch f[0] {
		case "N":
			d.lists = append(d.lists, strings.Split(f[2], "|"))
		case "P":
			for _, key := range strings.Split(f[2], " ") {
				d.patterns[key] = f[1]
			}
		case "H":
			d.cycle = f[1]
		case "D":
			d.decimal, d.group = f[1], f[2]
		case "R":
			d.shapes[f[1]+f[2]] = f[3]
		case "C":
			d.symbols[f[1]] = [2]string{f[2], f[3]}
		}
	})
	return d
}

var currencyDigits = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	eachLine("currencies", func(f []string) { out[f[1]], _ = strconv.Atoi(f[2]) })
	return out
})

// zoneTable has the names of the time zones.
type zoneTable struct {
	sets      [][]string
	spans     map[string]string // by zone: from:offset=set,...;...
	canonical map[string]string // by name in lower case
}

var zoneTables = sync.OnceValue(func() *zoneTable {
	z := &zoneTable{spans: map[string]string{}, canonical: map[string]string{}}
	eachLine("zones", func(f []string) {
		switch f[0] {
		case "S":
			z.sets = append(z.sets, strings.Split(f[2], "|"))
		case "Z":
			z.spans[f[1]] = f[2]
			z.canonical[strings.ToLower(f[1])] = f[1]
		case "A":
			z.canonical[strings.ToLower(f[1])] = f[2]
		}
	})
	return z
})

// name gives the name of a zone at a time (in seconds) when offset is in
// force: "=" where the offset itself is the name, "" where none is known.
func (z *zoneTable) name(zone string, at int64, offset int, locale int, long bool) string {
	current := ""
	for span := range strings.SplitSeq(z.spans[zone], ";") {
		from, sets, _ := strings.Cut(span, ":")
		if n, err := strconv.ParseInt(from, 10, 64); err == nil && (n <= at || current == "") {
			current = sets
		}
	}
	for pair := range strings.SplitSeq(current, ",") {
		if o, set, _ := strings.Cut(pair, "="); o == strconv.Itoa(offset) {
			if n, err := strconv.Atoi(set); err == nil && n < len(z.sets) {
				i := locale * 2
				if long {
					i++
				}
				return z.sets[n][i]
			}
		}
	}
	return ""
}
