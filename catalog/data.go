package catalog

import (
	"io/fs"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/toolwarrant/toolwarrant/fault"
)

// dataVersion is the version of manifest.json, presets.json, vocabulary.json
// and fixtures.json that this build reads.
const dataVersion = 1

// manifest states the digest of every bundled tool, so that one changed by
// accident or by hand is found at load, and which placeholder names it may
// resolve.
type manifest struct {
	Version int                      `json:"version"`
	Tools   map[string]manifestEntry `json:"tools"` // by name
}

type manifestEntry struct {
	Digest string   `json:"digest"` // specDigest
	Env    []string `json:"env"`
}

// everyTool is the one preset entry that stands for all bundled tools. An
// empty preset is empty, so that a slip cannot expose everything.
const everyTool = "*"

// Preset is a choice of bundled tools: what any of its lists matches.
type Preset struct {
	DisplayName string   `json:"displayName"`
	Description string   `json:"description"`
	Names       []string `json:"names,omitzero"` // "*" is all
	Tags        []string `json:"tags,omitzero"`
	Categories  []string `json:"categories,omitzero"`
}

// presetFile is presets.json.
type presetFile struct {
	Version int               `json:"version"`
	Default string            `json:"default"` // the preset when none is named
	Presets map[string]Preset `json:"presets"` // by id
}

// Category is one known category of tools. Others are legal in a spec and
// are shown as they stand.
type Category struct {
	ID          string `json:"id"`
	DisplayName string `json:"displayName"`
	Order       int    `json:"order"` // ascending in lists
}

// Vocabulary is the controlled part of categories and tags.
type Vocabulary struct {
	Version    int        `json:"version"`
	Categories []Category `json:"categories"`
	Tags       []string   `json:"tags"`
}

// Presets gives the presets by id, and the id of the default one.
func (c *Catalog) Presets() (presets map[string]Preset, defaultID string) {
	return maps.Clone(c.bundle.presets.Presets), c.bundle.presets.Default
}

// Vocabulary gives the known categories, in the order of lists, and the known
// tags. The slices belong to the catalog: do not change them.
func (c *Catalog) Vocabulary() Vocabulary { return c.bundle.vocabulary }

// readData reads one versioned data file. Unknown members and duplicate names
// are errors: such a file was not written for this build.
func readData(fsys fs.FS, name string, into any, version func() int) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fault.New(fault.Internal, "catalog-data", "the bundled catalog lacks %s", name).Because(err)
	}
	if err := json.Unmarshal(data, into, json.RejectUnknownMembers(true)); err != nil {
		return fault.New(fault.Internal, "catalog-data", "%s of the bundled catalog cannot be read: %v", name, err).Because(err)
	}
	if v := version(); v != dataVersion {
		return fault.New(fault.Internal, "catalog-data", "%s of the bundled catalog has version %d; this build reads version %d", name, v, dataVersion)
	}
	return nil
}
