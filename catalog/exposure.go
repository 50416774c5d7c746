package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/suggest"
)

// Rules select tools: by name, by tag, by category.
type Rules struct {
	Names      []string
	Tags       []string
	Categories []string
}

func (r Rules) empty() bool { return len(r.Names)+len(r.Tags)+len(r.Categories) == 0 }

// match gives the first rule of r that selects a tool, in words; "" is none.
func (r Rules) match(d *document) string {
	if slices.Contains(r.Names, d.spec.Name) {
		return "name " + d.spec.Name
	}
	for _, tag := range d.spec.Tags {
		if slices.Contains(r.Tags, tag) {
			return "tag " + tag
		}
	}
	if d.spec.Category != "" && slices.Contains(r.Categories, d.spec.Category) {
		return "category " + d.spec.Category
	}
	return ""
}

// chooser applies the preset and the rules, in this order: the preset, then
// what is included by name, tag and category, then what is excluded by name,
// tag and category. An exclusion always wins.
type chooser struct {
	preset  string // "" when the base is empty
	base    Preset
	include Rules
	exclude Rules
}

// newChooser resolves the options. Include rules without a preset start from
// nothing, since then they say all that is wanted; otherwise no preset means
// the default one.
func newChooser(b *bundle, o Options) (chooser, error) {
	c := chooser{preset: o.Preset, include: o.Include, exclude: o.Exclude}
	if c.preset == "" && o.Include.empty() {
		c.preset = b.presets.Default
	}
	if c.preset == "" {
		return c, nil
	}
	base, ok := b.presets.Presets[c.preset]
	if !ok {
		return c, unknown("preset", c.preset, slices.Collect(maps.Keys(b.presets.Presets)))
	}
	c.base = base
	return c, nil
}

// chosen says whether a bundled tool is part of the choice, and why not.
func (c chooser) chosen(d *document) (ok bool, why string) {
	if rule := c.exclude.match(d); rule != "" {
		return false, "excluded by " + rule
	}
	base := Rules{Names: c.base.Names, Tags: c.base.Tags, Categories: c.base.Categories}
	if slices.Contains(c.base.Names, everyTool) || base.match(d) != "" || c.include.match(d) != "" {
		return true, ""
	}
	if c.preset == "" {
		return false, "not included by name, tag or category"
	}
	return false, fmt.Sprintf("not in the preset %q; include it by name to serve it", c.preset)
}

// check refuses rules that name what does not exist: a slip in an exclusion
// would otherwise serve what was meant to be kept back.
func (c chooser) check(b *bundle, docs []document) error {
	names := make([]string, 0, len(docs))
	tags := slices.Clone(b.vocabulary.Tags)
	var categories []string
	for _, known := range b.vocabulary.Categories {
		categories = append(categories, known.ID)
	}
	for _, d := range docs {
		names = append(names, d.spec.Name)
		tags = append(tags, d.spec.Tags...)
		categories = append(categories, d.spec.Category)
	}
	for _, rules := range []Rules{c.include, c.exclude} {
		for _, set := range []struct {
			what        string
			used, known []string
		}{{"tool", rules.Names, names}, {"tag", rules.Tags, tags}, {"category", rules.Categories, categories}} {
			for _, word := range set.used {
				if !slices.Contains(set.known, word) {
					return unknown(set.what, word, set.known)
				}
			}
		}
	}
	return nil
}

// unknown is the error for a word that is not in known, with the nearest one.
func unknown(what, word string, known []string) error {
	hint := ""
	if near := suggest.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) <= 20 {
		slices.Sort(known)
		hint = "; known are " + strings.Join(slices.Compact(known), ", ")
	}
	return fault.New(fault.Usage, "unknown-"+what, "there is no %s %q%s", what, word, hint)
}
