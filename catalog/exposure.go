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
// what is included by name, tag and category and what was chosen to be exposed,
// then what was chosen to be hidden, then what is excluded by name, tag and
// category. An exclusion always wins.
//
// The configuration goes before what is kept: where it names a preset or
// includes anything, it says which bundled tools are served, and neither the
// kept preset nor tools kept as exposed add to them. A tool that it includes by
// its name is served though it is kept as hidden.
type chooser struct {
	preset  string // "" when the base is empty
	base    Preset
	include Rules
	exclude Rules
	whole   bool   // the configuration says which bundled tools are served
	of      string // whose preset it is, in words
	by      string // the key that makes it whole
	kept    Kept
	lost    *fault.Error // the kept preset is none of this build
}

// newChooser resolves the options. Include rules without a preset start from
// nothing, since then they say all that is wanted; otherwise no preset means
// the kept one or the default.
func newChooser(b *bundle, o Options) (chooser, error) {
	c := chooser{preset: o.Preset, include: o.Include, exclude: o.Exclude, of: " of the configuration"}
	switch {
	case o.Preset != "":
		c.by = "catalog.preset"
	case !o.Include.empty():
		c.by = "catalog.include"
		c.whole = true
		return c, nil
	default:
		return c, nil
	}
	c.whole = true
	base, ok := b.presets.Presets[c.preset]
	if !ok {
		return c, unknown("preset", c.preset, slices.Collect(maps.Keys(b.presets.Presets)))
	}
	c.base = base
	return c, nil
}

// with puts the kept choices below those of the configuration. A kept preset
// that this build does not have serves no bundled tool, and is a finding.
func (c chooser) with(b *bundle, k Kept) chooser {
	c.kept = k
	if c.whole {
		return c
	}
	c.preset, c.of = b.presets.Default, ""
	if k.Preset != "" {
		c.preset, c.of = k.Preset, " that is kept"
	}
	base, ok := b.presets.Presets[c.preset]
	if !ok {
		c.lost = unknown("preset", c.preset, slices.Collect(maps.Keys(b.presets.Presets)))
		c.lost.Message = "the kept choice of bundled tools cannot be read, and none of them is served by it: " + c.lost.Message +
			"; choose another with: toolwarrant catalog preset NAME"
	}
	c.base = base
	return c
}

// named reports whether the configuration includes a tool by its name.
func (c chooser) named(d *document) bool { return slices.Contains(c.include.Names, d.spec.Name) }

// bundled says whether a bundled tool is part of the choice, whether it is
// hidden all the same, and why.
func (c chooser) bundled(d *document) (chosen, hidden bool, why string) {
	choice := c.kept.Choices[d.spec.ToolID]
	if rule := c.exclude.match(d); rule != "" {
		return false, choice == ExposureHidden, "excluded by " + rule
	}
	if choice == ExposureHidden && !c.named(d) {
		return true, true, hiddenByChoice(d)
	}
	base := Rules{Names: c.base.Names, Tags: c.base.Tags, Categories: c.base.Categories}
	rule := c.include.match(d)
	switch {
	case rule != "":
		why = "included by " + rule
	case slices.Contains(c.base.Names, everyTool) || base.match(d) != "":
		why = fmt.Sprintf("in the preset %q%s", c.preset, c.of)
	case choice == ExposureExposed && !c.whole:
		why = exposedByChoice
	case choice == ExposureExposed:
		return false, false, "it is kept as exposed, and the configuration (" + c.by + ") says which tools are served; include it there by name"
	case c.preset == "":
		return false, false, "not included by name, tag or category"
	case c.whole:
		return false, false, fmt.Sprintf("not in the preset %q%s; include it there by name to serve it", c.preset, c.of)
	default:
		return false, false, fmt.Sprintf("not in the preset %q%s; serve it with: toolwarrant catalog expose %s", c.preset, c.of, d.spec.Name)
	}
	if choice == ExposureHidden {
		why += overHidden
	}
	return true, false, why
}

// user says whether a user tool is hidden, and why or why not. served is why it
// is served otherwise.
func (c chooser) user(d *document, served string) (hidden bool, why string) {
	if rule := c.exclude.match(d); rule != "" {
		return true, "excluded by " + rule
	}
	switch choice := c.kept.Choices[d.spec.ToolID]; {
	case choice == ExposureHidden && c.named(d):
		return false, "included by name " + d.spec.Name + overHidden
	case choice == ExposureHidden:
		return true, hiddenByChoice(d)
	case choice == ExposureExposed:
		return false, exposedByChoice
	}
	return false, served
}

const (
	exposedByChoice = "exposed with: toolwarrant catalog expose"
	overHidden      = ", which goes before the kept choice to hide it"
)

func hiddenByChoice(d *document) string {
	return "it is kept as hidden; expose it with: toolwarrant catalog expose " + d.spec.Name
}

// overrides lists the kept choices that have no effect, among these tools.
func (c chooser) overrides(entries []*entry) (all []Override) {
	if c.whole && c.kept.Preset != "" && c.kept.Preset != c.preset {
		all = append(all, Override{"preset " + c.kept.Preset, c.by})
	}
	for _, e := range entries {
		d := &document{spec: e.tool.Spec}
		switch choice := c.kept.Choices[d.spec.ToolID]; {
		case choice == "":
		case c.exclude.match(d) != "" && choice == ExposureExposed:
			all = append(all, Override{"expose " + d.spec.Name, "catalog.exclude"})
		case choice == ExposureHidden && c.named(d) && c.exclude.match(d) == "":
			all = append(all, Override{"hide " + d.spec.Name, "catalog.include.names"})
		case choice == ExposureExposed && c.whole && e.tool.Source == SourceBuiltin && !e.exposed:
			all = append(all, Override{"expose " + d.spec.Name, c.by})
		}
	}
	return all
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
func unknown(what, word string, known []string) *fault.Error {
	hint := ""
	if near := suggest.Nearest(word, known); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) <= 20 {
		slices.Sort(known)
		hint = "; known are " + strings.Join(slices.Compact(known), ", ")
	}
	return fault.New(fault.Usage, "unknown-"+what, "there is no %s %q%s", what, word, hint)
}
