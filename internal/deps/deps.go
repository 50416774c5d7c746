// Package deps pins modules that are about to be used.
package deps

import (
	_ "cuelang.org/go/cue/cuecontext"
	_ "cuelang.org/go/encoding/jsonschema"
	_ "github.com/PuerkitoBio/goquery"
	_ "github.com/dop251/goja"
	_ "github.com/gofrs/flock"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/hashicorp/golang-lru/v2"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/open-policy-agent/opa/v1/rego"
	_ "github.com/open-policy-agent/opa/v1/tester"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/rs/zerolog"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/mod/sumdb/note"
	_ "golang.org/x/net/idna"
	_ "golang.org/x/sys/cpu"
)
