package catalog

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Kept is what was chosen about exposure and approval while toolwarrant ran,
// as opposed to what the configuration says. It is part of state.json.
type Kept struct {
	// Preset is the choice of bundled tools to start from; "" = none was made.
	Preset string `json:"preset"`
	// AutoExpose: a tool that is published for the first time is served at
	// once. Otherwise it is hidden until it is exposed.
	AutoExpose bool `json:"autoExpose"`
	// Choices are ExposureExposed or ExposureHidden, by toolId.
	Choices map[string]string `json:"choices"`
	// Approvals say how this installation asks for a bundled tool, in the
	// place of what its document says, by toolId.
	Approvals map[string]Standing `json:"approvals"`
	// Asked are the modes of approval that user tools were put into service
	// with, by toolId, for as long as nobody confirmed less. They outlast the
	// documents: a tool that is deleted and made again is the same tool.
	Asked map[string]string `json:"asked,omitempty"`
}

// Standing is a choice of how to ask for a tool, with who made it and why.
type Standing struct {
	Mode   string    `json:"mode"` // REQUIRED, AUTO_APPROVE, DISABLED
	Reason string    `json:"reason"`
	By     string    `json:"by"` // subject
	At     time.Time `json:"at"`
}

// The modes of a Standing.
var standingModes = []string{"REQUIRED", "AUTO_APPROVE", "DISABLED"}

// noMode is what Asked has for a document that says nothing.
const noMode = "DEFAULT"

func (k Kept) clone() Kept {
	k.Choices, k.Approvals, k.Asked = maps.Clone(k.Choices), maps.Clone(k.Approvals), maps.Clone(k.Asked)
	if k.Choices == nil {
		k.Choices = map[string]string{}
	}
	if k.Approvals == nil {
		k.Approvals = map[string]Standing{}
	}
	if k.Asked == nil {
		k.Asked = map[string]string{}
	}
	return k
}

// check says what is wrong with a Kept as a whole, "" = nothing.
func (k Kept) check() string {
	for id, choice := range k.Choices {
		if choice != ExposureExposed && choice != ExposureHidden {
			return "the choice for " + id + " is unknown: " + choice
		}
	}
	for id, s := range k.Approvals {
		if !slices.Contains(standingModes, s.Mode) {
			return "the approval mode of " + id + " is unknown: " + s.Mode
		}
	}
	for id, mode := range k.Asked {
		if mode != noMode && !slices.Contains(standingModes, mode) {
			return "the mode that " + id + " was in service with is unknown: " + mode
		}
	}
	return ""
}

// Kept gives what is kept now. The maps are the caller's.
func (c *Catalog) Kept() Kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.clone()
}

// Keep changes what is kept: edit changes a copy of it, read anew under the
// lock, and may refuse. If that changed anything, record is told of the old and
// the new content, and nothing changes unless it gives nil: what is not on
// record does not take effect. The error of a write that fails after that is
// of code INTERNAL. Neither function may call the Catalog.
func (c *Catalog) Keep(ctx context.Context, edit func(*Kept) error, record func(old, new Kept) error) (changed bool, err error) {
	if c.options.Home == "" {
		return false, noHome()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err = locked(ctx, userDir(c.options.Home), func() error {
		st, err := stateAfter(c.state, c.statePath())
		if err != nil {
			return err
		}
		old, next := st.clone(), st.clone()
		if err := edit(&next); err != nil {
			return err
		}
		if wrong := next.check(); wrong != "" {
			return fault.New(fault.Usage, "choice", "%s", wrong)
		}
		if changed = !reflect.DeepEqual(old, next); !changed {
			return nil
		}
		if err := record(old, next); err != nil {
			return err
		}
		st.Kept = next
		if err := st.write(c.statePath()); err != nil {
			return err
		}
		c.state = st
		c.publish()
		return nil
	})
	return changed && err == nil, err
}

// KnowsPreset refuses the id of a preset that this build does not have.
func (c *Catalog) KnowsPreset(id string) error {
	if _, ok := c.bundle.presets.Presets[id]; ok {
		return nil
	}
	return unknown("preset", id, slices.Collect(maps.Keys(c.bundle.presets.Presets)))
}

// Tools finds the tools of these names or ids; one that is not there is an
// error that names the nearest one. It is for whoever operates the
// installation: other callers must not be told what there is.
func (c *Catalog) Tools(ctx context.Context, names []string) ([]*Tool, error) {
	tools := make([]*Tool, len(names))
	for i, name := range names {
		t, err := c.Lookup(ctx, name)
		if err != nil {
			var known []string
			for _, e := range c.content.Load().entries {
				known = append(known, e.tool.Spec.Name)
			}
			return nil, unknown("tool", name, known)
		}
		tools[i] = t
	}
	return tools, nil
}

// Override is a kept choice that has no effect, since the configuration says
// something else.
type Override struct {
	Kept string `json:"kept"` // the choice, in words
	By   string `json:"by"`   // the key of the configuration, or its flag
}

// Overrides lists the kept choices that the configuration overrides: the
// preset, then tools by name.
func (c *Catalog) Overrides() []Override { return slices.Clone(c.content.Load().overrides) }

func noHome() error {
	return fault.New(fault.Usage, "no-home", "without a home folder nothing can be kept; name one with --home")
}
