package catalog

import (
	"embed"
	"io/fs"
)

//go:generate go test -run ^TestManifestIsCurrent$ -update .

// bundledFiles holds the bundled tools, one folder each with spec.json and
// action.js, what their Local Pass needs (cases.json, fixtures.json,
// fixtures/), and the data beside them. It is read-only by construction.
//
//go:embed tools/*/spec.json tools/*/action.js tools/*/cases.json tools/*/fixtures.json tools/*/fixtures
//go:embed manifest.json presets.json vocabulary.json
var bundledFiles embed.FS

// Bundled gives the files of the bundled catalog: manifest.json,
// presets.json, vocabulary.json and tools/<name>/. It is for tools that list
// or document the catalog; Open reads it by itself.
func Bundled() fs.FS { return bundledFiles }
