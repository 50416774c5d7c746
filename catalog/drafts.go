package catalog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// draftID is what the toolId of a draft may be: it becomes a part of a file
// name on every system.
var draftID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// CreateDraft puts a document into the folder under the home, as a draft in a
// file of its own. Without a toolId it gets one. A name or a toolId that
// another tool has is refused (SPEC_INVARIANT, reason name-conflict), and
// nothing is written then.
//
// A tool that its author may not know of, by knows (nil = of all), is in
// nobody's way: drafts may share names, so that the answer does not tell of it.
// Where there is one, every draft gets an id that says nothing.
func (c *Catalog) CreateDraft(ctx context.Context, doc *spec.Spec, knows Knows) (*Tool, error) {
	return c.create(ctx, doc, nil, knows, c.free)
}

// Knows says of which tools an author may know.
type Knows func(context.Context, []*Tool) ([]bool, error)

// ImportDraft is CreateDraft for a document from elsewhere. beside has the
// fixtures.json, the cases.json and the folder fixtures/ that came with it,
// nil = none; with any of them the draft is a folder. Its name may be that of other tools of
// the user, since drafts may share names, but not that of a bundled one.
func (c *Catalog) ImportDraft(ctx context.Context, doc *spec.Spec, beside fs.FS) (*Tool, error) {
	return c.create(ctx, doc, beside, nil, c.freeID)
}

// CloneDraft makes a draft called name from the document of t and the
// fixtures beside it. It has a toolId of its own, derived from the new name,
// and its own times; everything else is kept byte for byte.
func (c *Catalog) CloneDraft(ctx context.Context, t *Tool, name string) (*Tool, error) {
	id := spec.DeriveToolID(name)
	doc, ferr := t.Spec.Edit(spec.Patch{Name: &name, ToolID: &id})
	if ferr != nil {
		return nil, ferr
	}
	return c.create(ctx, doc, Beside(t), nil, c.free)
}

// create writes the draft, if free lets it have its name and its id.
func (c *Catalog) create(ctx context.Context, doc *spec.Spec, beside fs.FS, knows Knows, free func(doc *spec.Spec, id, path string, secret secrets) error) (*Tool, error) {
	var made *Tool
	err := c.change(ctx, func() error {
		secret, err := c.secretFrom(ctx, knows)
		if err != nil {
			return err
		}
		id := doc.ToolID
		if _, taken := c.content.Load().byID[id]; taken && id == spec.DeriveToolID(doc.Name) {
			id = uuid.NewString() // a tool that was renamed has it
		}
		if !draftID.MatchString(id) {
			return doc.At(fault.New(fault.SpecInvariant, "tool-id", "the toolId %q cannot name a draft: leave it out, or use letters, digits, - and _, at most 128", id), "/toolId")
		}
		if len(secret) > 0 {
			id = uuid.NewString()
		}
		if err := free(doc, id, "", secret); err != nil {
			return err
		}
		saved, ferr := asDraft(doc, id, c.now().UnixMilli(), true)
		if ferr != nil {
			return ferr
		}
		path, err := place(userDir(c.options.Home), id, saved, beside)
		if err != nil {
			return err
		}
		made = &Tool{Spec: saved, Source: SourceUser, Path: path}
		return nil
	})
	return c.after(made, err)
}

// ReplaceDraft puts doc in the place of t, whose toolId it keeps, and makes it
// a draft. A document that somebody changed since t was read is left as it is
// (LOCAL_PASS_FAILED, reason changed-on-disk).
func (c *Catalog) ReplaceDraft(ctx context.Context, t *Tool, doc *spec.Spec, knows Knows) (*Tool, error) {
	made := *t
	err := c.change(ctx, func() error {
		if err := alone(t); err != nil {
			return err
		}
		secret, err := c.secretFrom(ctx, knows)
		if err != nil {
			return err
		}
		if err := c.free(doc, t.Spec.ToolID, t.Path, secret); err != nil {
			return err
		}
		saved, ferr := asDraft(doc, t.Spec.ToolID, c.now().UnixMilli(), false)
		if ferr != nil {
			return ferr
		}
		made.Spec = saved
		return saved.Save(t.Path)
	})
	return c.after(&made, err)
}

// RemoveDraft deletes the document of t, unless somebody changed it since it
// was read. What state.json says of the tool is kept: the same document passed
// if it comes back.
func (c *Catalog) RemoveDraft(ctx context.Context, t *Tool) error {
	return c.change(ctx, func() error {
		if err := alone(t); err != nil {
			return err
		}
		if err := os.Remove(t.Path); err != nil {
			return fault.New(fault.Internal, "draft-unwritable", "the document of %q cannot be deleted", t.Spec.Name).Because(err)
		}
		return nil
	})
}

// change reads the folders anew, makes one change of them and shows the
// outcome, while nobody else changes the catalog.
func (c *Catalog) change(ctx context.Context, do func() error) error {
	if c.options.Home == "" {
		return noHome()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return locked(ctx, userDir(c.options.Home), func() error {
		if err := c.reload(ctx); err != nil {
			return err
		}
		err := do()
		return errors.Join(err, c.reload(context.WithoutCancel(ctx)))
	})
}

// after gives the entry that a change made.
func (c *Catalog) after(made *Tool, err error) (*Tool, error) {
	if err != nil {
		return nil, err
	}
	e, ok := c.content.Load().byID[made.Spec.ToolID]
	if !ok || e.tool.Path != made.Path {
		return nil, fault.New(fault.Internal, "draft-lost", "the draft %q was written and is not in the catalog; its findings say why", made.Spec.Name)
	}
	return c.current(e), nil
}

// freeID refuses an id that another tool has, and a name of a bundled one.
func (c *Catalog) freeID(doc *spec.Spec, id, _ string, _ secrets) error {
	for i := range c.bundle.docs {
		if err := taken(c.bundle.docs[i].spec, doc, id); err != nil {
			return err
		}
	}
	for _, d := range c.docs {
		if fold(d.spec.ToolID) == fold(id) {
			return doc.At(fault.New(fault.SpecInvariant, "name-conflict", "the toolId %q belongs to the tool %q already; leave it out, or choose another", id, d.spec.Name), "/toolId")
		}
	}
	return nil
}

// taken refuses a name or an id by which owner is known.
func taken(owner, doc *spec.Spec, id string) error {
	switch name := fold(doc.Name); {
	case fold(owner.Name) == name || fold(owner.ToolID) == name:
		return doc.At(fault.New(fault.SpecInvariant, "name-conflict", "the name %q belongs to another tool; choose another", doc.Name), "/name")
	case fold(owner.ToolID) == fold(id) || fold(owner.Name) == fold(id):
		return doc.At(fault.New(fault.SpecInvariant, "name-conflict", "the toolId %q belongs to another tool; leave it out, or choose another", id), "/toolId")
	}
	return nil
}

// free refuses a name or an id by which another tool than that at path is
// known, unless that is secret.
func (c *Catalog) free(doc *spec.Spec, id, path string, secret secrets) error {
	for i := range c.bundle.docs {
		if err := taken(c.bundle.docs[i].spec, doc, id); err != nil {
			return err
		}
	}
	for _, d := range c.docs {
		if path != "" && d.path == path || secret[d.spec] {
			continue
		}
		if err := taken(d.spec, doc, id); err != nil {
			return err
		}
	}
	return nil
}

// secrets are the documents that an author may not know of.
type secrets map[*spec.Spec]bool

// secretFrom gives those that knows keeps back, and those that are in a folder
// but not in the catalog. The bundled ones are no secret: every copy of the
// program has them.
func (c *Catalog) secretFrom(ctx context.Context, knows Knows) (secrets, error) {
	if knows == nil {
		return nil, nil
	}
	out := secrets{}
	for _, d := range c.docs {
		out[d.spec] = true
	}
	var tools []*Tool
	for _, e := range c.content.Load().entries {
		if e.tool.Source != SourceBuiltin {
			tools = append(tools, e.tool)
		}
	}
	known, err := knows(ctx, tools)
	if err != nil {
		return nil, err
	}
	for i, t := range tools {
		if known[i] {
			delete(out, t.Spec)
		}
	}
	return out, nil
}

// alone makes sure that the file of t holds t as it was read, and nothing
// else.
func alone(t *Tool) error {
	if t.Source == SourceBuiltin || !strings.HasSuffix(t.Path, ".json") {
		return fault.New(fault.Usage, "read-only", "the tool %q is not kept in one file of the catalog; it is changed on disk", t.Spec.Name)
	}
	if loaded, err := spec.Load(t.Path); err == nil && len(loaded) != 1 {
		return fault.New(fault.Usage, "read-only", "the tool %q shares a file with others; it is changed on disk", t.Spec.Name)
	}
	return unchanged(t)
}

// asDraft is doc with what the catalog says about it.
func asDraft(doc *spec.Spec, id string, now int64, fresh bool) (*spec.Spec, *fault.Error) {
	draft := true
	p := spec.Patch{ToolID: &id, Draft: &draft, UpdateTimestamp: &now}
	if fresh {
		p.CreateTimestamp = &now
	}
	return doc.Edit(p)
}
