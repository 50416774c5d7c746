package catalog

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// SetPass implements Store. The state file is read anew under the lock, so
// that what other processes recorded is kept. A user tool that never passed
// before is hidden, unless such tools are exposed of themselves. A pass of a
// tool whose name another one serves under is refused, as NameFree says.
//
// A pass makes a bundled tool ACTIVE only if preset, rules or a kept choice
// choose it.
func (c *Catalog) SetPass(ctx context.Context, toolID string, pass *Pass) error {
	if c.options.Home == "" {
		return noHome()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.content.Load().byID[toolID]
	if !known {
		return notFound(toolID)
	}
	return locked(ctx, userDir(c.options.Home), func() error {
		if pass != nil { // another process may have published a tool of this name
			if err := c.reload(ctx); err != nil {
				return err
			}
			if err := c.NameFree(e.tool); err != nil {
				return err
			}
		}
		st, err := stateAfter(c.state, c.statePath())
		if err != nil {
			return err
		}
		old, has := st.Tools[toolID]
		fresh := !has || old.PassedDigest == noDigest
		if _, chosen := st.Choices[toolID]; pass != nil && fresh && !chosen && !st.AutoExpose && c.inHome(e.tool.Path) {
			st.Choices[toolID] = ExposureHidden
		}
		st.Tools[toolID] = nextPass(old, pass, c.now())
		if err := st.write(c.statePath()); err != nil {
			return err
		}
		c.state = st
		c.publish()
		return nil
	})
}

// NameFree refuses t if another tool serves under its name: SPEC_INVARIANT,
// reason name-conflict. Drafts may share names, what is published may not.
func (c *Catalog) NameFree(t *Tool) error {
	for _, e := range c.content.Load().entries {
		if other := e.tool; other.State == StateActive && other.Spec.ToolID != t.Spec.ToolID && fold(other.Spec.Name) == fold(t.Spec.Name) {
			return t.Spec.At(fault.New(fault.SpecInvariant, "name-conflict",
				"a tool called %q is published already; make it a draft, or rename one of the two", t.Spec.Name), "/name")
		}
	}
	return nil
}

// nextPass is what the state file says after old was followed by pass.
func nextPass(old Pass, pass *Pass, now time.Time) Pass {
	now = now.UTC().Truncate(time.Millisecond)
	if pass == nil {
		if old.PassedDigest == "" {
			old = Pass{PassedDigest: noDigest, Mode: "live", Runtime: "none", PolicyRevision: "none"}
		}
		old.At, old.Exposure = now, ExposureDraft
		return old
	}
	next := *pass
	if next.At.IsZero() {
		next.At = now
	}
	next.Exposure = ExposureExposed
	return next
}

// WriteSpec puts edited, which was made from t.Spec, in its place on disk, in
// one atomic step. It serves tools of the catalog and documents outside it
// alike; bundled tools are refused. A document that somebody changed since t
// was read is left as it is: the edit was made from another text, and a pass
// was earned by another code. It does not record a pass.
func (c *Catalog) WriteSpec(ctx context.Context, t *Tool, edited *spec.Spec) error {
	if t.Source == SourceBuiltin || t.Path == "" {
		return fault.New(fault.Usage, "read-only",
			"the tool %q is bundled and cannot be changed; copy it under another name and toolId", t.Spec.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	change := func() error {
		if err := unchanged(t); err != nil {
			return err
		}
		if err := edited.Save(t.Path); err != nil {
			return unwritable(c.inHome(t.Path), err)
		}
		c.replace(t, edited)
		return nil
	}
	if c.options.Home == "" {
		return change()
	}
	return locked(ctx, userDir(c.options.Home), change)
}

// unwritable says what to do about a folder that is mounted to be read only.
func unwritable(home bool, err error) error {
	f := fault.From(err)
	if home || f.Reason != "unwritable" {
		return err
	}
	said := *f
	said.Message += "; what passes is written into the tool's folder: make it writable, or have its operator vouch for it as it is with catalog.trust-folders"
	return &said
}

// unchanged makes sure that the document of t is on disk as t has it.
func unchanged(t *Tool) error {
	loaded, err := spec.Load(t.Path)
	if err != nil {
		return err
	}
	for _, l := range loaded {
		if s := cmp.Or(l.Spec, l.Broken); s != nil && s.ToolID == t.Spec.ToolID &&
			s.Code == t.Spec.Code && bytes.Equal(s.Bytes(), t.Spec.Bytes()) {
			return nil
		}
	}
	return fault.New(fault.LocalPassFailed, "changed-on-disk",
		"%s was changed since it was read; nothing was written, try again with the new content", t.Path).At(t.Path, "", 0, 0)
}

// replace shows edited in place of t, if t is of this catalog; c.mu is held.
func (c *Catalog) replace(t *Tool, edited *spec.Spec) {
	for i := range c.docs {
		if c.docs[i].path == t.Path && c.docs[i].spec.ToolID == t.Spec.ToolID {
			docs := append([]document(nil), c.docs...)
			docs[i].spec, docs[i].broken = edited, nil
			c.docs = docs
			c.publish()
			return
		}
	}
}
