// Package config reads the configuration of an installation: defaults, then a
// YAML or JSON file, then the environment, then flags, each over the one
// before.
//
// The keys, their types, bounds and defaults are stated once, in
// cue/config.cue; the JSON Schema generated from it drives everything here:
// which keys exist, how TOOLWARRANT_* names map to them, what is refused.
// The Go types below only give the values names. The command line and the
// services import this package; it imports nothing of the pipeline.
//
// Configuration comes from the operator, who is trusted, but who errs: an
// unknown key, a key given twice or a value of the wrong type is an error
// with its place, never a silently ignored line, since a misspelt limit is no
// limit. Input is bounded (MaxBytes, nesting), and YAML anchors, aliases,
// merge keys and tags are refused, so that no file expands beyond its size.
package config

// MaxBytes bounds a configuration file.
const MaxBytes = 1 << 20

// Version is the newest version of the format that is understood.
const Version = 1

// Config is a complete configuration: every key has a value. It is a plain
// value; paths stand as the operator wrote them, and "" means the documented
// default place under the home.
type Config struct {
	Version int     `json:"version"`
	Addr    string  `json:"addr"` // host:port
	Name    string  `json:"name"`
	Catalog Catalog `json:"catalog"`
	Policy  Policy  `json:"policy"`
	FS      FS      `json:"fs"`
	Egress  Egress  `json:"egress"`
	Secrets Secrets `json:"secrets"`
	Audit   Audit   `json:"audit"`
	Runtime Runtime `json:"runtime"`
	Server  Server  `json:"server"`
	Log     Log     `json:"log"`
	Admin   Admin   `json:"admin"`
}

// Catalog says which tools exist and which of them are served.
type Catalog struct {
	Dirs    []string `json:"dirs"`
	Preset  string   `json:"preset"` // "" = the default one
	Include Filter   `json:"include"`
	Exclude Filter   `json:"exclude"` // wins over Include
}

// Filter chooses tools; one match of any list is enough.
type Filter struct {
	Names      []string `json:"names"`
	Tags       []string `json:"tags"`
	Categories []string `json:"categories"`
}

// Policy says what decides.
type Policy struct {
	Path             string   `json:"path"`   // a folder, the file or URL of a bundle, or "builtin"
	Shadow           string   `json:"shadow"` // asked too and not enforced; "" = none
	ShadowWaitMillis int64    `json:"shadow-wait-millis"`
	Keys             []string `json:"keys"` // PEM files; with one, bundles have to be signed
	RequireSignature bool     `json:"require-signature"`
	MinRevision      string   `json:"min-revision"` // "" = any
	PollSeconds      int64    `json:"poll-seconds"`
	AllowOpenMode    bool     `json:"allow-open-mode"`
}

// FS says which files tools may be given.
type FS struct {
	BasePath string   `json:"base-path"` // "" = workspace under the home
	Roots    []string `json:"roots"`
}

// Egress says which network tools may be given.
type Egress struct {
	PrivateHosts []string `json:"private-hosts"` // host:port
	Resolver     string   `json:"resolver"`      // host:port, "" = the system's
}

// Secrets says which values tools may use and nobody may see.
type Secrets struct {
	File   string  `json:"file"` // "" = secrets.yaml under the home
	Grants []Grant `json:"grants"`
}

// Grant lets tools use placeholder names. It has the shape of
// resolver.Grant, to which it converts.
type Grant struct {
	Names      []string `json:"names"`
	Tools      []string `json:"tools"`
	Categories []string `json:"categories"`
	Sources    []string `json:"sources"`
}

// Audit says where the log is and who gets it as well.
type Audit struct {
	File        string     `json:"file"`         // "" = under audit of the home
	Fsync       string     `json:"fsync"`        // every, group, interval
	FsyncMillis int64      `json:"fsync-millis"` // of interval
	Rotate      Rotate     `json:"rotate"`
	Retain      Retain     `json:"retain"`
	Index       bool       `json:"index"` // a server keeps one, for queries
	Checkpoint  Checkpoint `json:"checkpoint"`
	Sinks       []Sink     `json:"sinks"`
}

// Rotate says when the log goes on in a new file; 0 = never.
type Rotate struct {
	Bytes int64 `json:"bytes"`
	Hours int64 `json:"hours"`
}

// Retain says which closed files of the log are removed; 0 = none.
type Retain struct {
	Days     int64 `json:"days"`
	Segments int64 `json:"segments"`
}

// Checkpoint says how the log is signed.
type Checkpoint struct {
	Key          string `json:"key"`  // file of the private key, "" = no checkpoints
	File         string `json:"file"` // "" = beside the log
	EverySeconds int64  `json:"every-seconds"`
	EveryRecords int64  `json:"every-records"`
}

// Runtime says what runs the code of tools.
type Runtime struct {
	Isolation string `json:"isolation"` // process, in-process
	Workers   int64  `json:"workers"`   // at most; 0 = eight for each core
}

// Server bounds the MCP endpoint over HTTP.
type Server struct {
	AllowedHosts          []string `json:"allowed-hosts"`
	AllowedOrigins        []string `json:"allowed-origins"`
	MaxBodyBytes          int64    `json:"max-body-bytes"`
	SessionTimeoutSeconds int64    `json:"session-timeout-seconds"`
	DrainSeconds          int64    `json:"drain-seconds"`
}

// Log says how much the process tells about itself, and in which form.
type Log struct {
	Level  string `json:"level"`  // debug, info, warn, error
	Format string `json:"format"` // text, json
}

// Admin is the interface for those who administer an installation.
type Admin struct {
	Enabled        bool     `json:"enabled"`
	Addr           string   `json:"addr"` // host:port
	AllowedHosts   []string `json:"allowed-hosts"`
	AllowedOrigins []string `json:"allowed-origins"`
	MaxBodyBytes   int64    `json:"max-body-bytes"`
	Roles          Roles    `json:"roles"`
}

// Roles says who may do what through the admin interface.
type Roles struct {
	Viewer   RoleOf `json:"viewer"`
	Author   RoleOf `json:"author"`
	Approver RoleOf `json:"approver"`
	Admin    RoleOf `json:"admin"`
}

// RoleOf says who has one role; one match of any list is enough.
type RoleOf struct {
	Subjects []string `json:"subjects"` // "local" = without authentication
	Groups   []string `json:"groups"`
	Scopes   []string `json:"scopes"`
}
