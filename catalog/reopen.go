package catalog

import (
	"context"
	"slices"
)

// Reopen reads the catalog by other folders, preset and rules. On an error,
// which is one of those of Open, nothing has changed. Home and Missing stay as
// they are.
func (c *Catalog) Reopen(ctx context.Context, o Options) error {
	rules, err := newChooser(c.bundle, o)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.options
	next.Dirs, next.TrustDirs, next.Preset, next.Include, next.Exclude = o.Dirs, o.TrustDirs, o.Preset, o.Include, o.Exclude
	docs, findings, err := readFolders(ctx, next)
	if err != nil {
		return err
	}
	if err := rules.check(c.bundle, append(slices.Clone(c.bundle.docs), docs...)); err != nil {
		return err
	}
	// One by one: Home and Missing are read without the lock.
	c.options.Dirs, c.options.TrustDirs, c.options.Preset, c.options.Include, c.options.Exclude = next.Dirs, next.TrustDirs, next.Preset, next.Include, next.Exclude
	c.docs, c.findings, c.rules = docs, findings, rules
	c.publish()
	return nil
}

// folders are the folders of the operator that are read now.
func (c *Catalog) folders() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.options.Dirs)
}
