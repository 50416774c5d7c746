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
	Sandbox Sandbox `json:"sandbox"`
	Server  Server  `json:"server"`
	Log     Log     `json:"log"`
	Auth    Auth    `json:"auth"`
	TLS     TLS     `json:"tls"`

	Limits    Limits    `json:"limits"`
	Telemetry Telemetry `json:"telemetry"`

	Approvals Approvals `json:"approvals"`
	Admin     Admin     `json:"admin"`
}

// Catalog says which tools exist and which of them are served.
type Catalog struct {
	Dirs         []string `json:"dirs"`
	TrustFolders bool     `json:"trust-folders"` // a tool of Dirs needs no pass
	Preset       string   `json:"preset"`        // "" = the default one
	Include      Filter   `json:"include"`
	Exclude      Filter   `json:"exclude"` // wins over Include
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

// Sandbox says which sandboxes commands of tools may run in. What a policy
// allows of them is the policy's.
type Sandbox struct {
	Enabled  bool     `json:"enabled"`
	Backends []string `json:"backends"` // by id; empty = all that there are
	Kernel   string   `json:"kernel"`   // image for virtual machines; empty = none
}

// Server bounds the MCP endpoint over HTTP.
type Server struct {
	AllowedHosts          []string `json:"allowed-hosts"`
	AllowedOrigins        []string `json:"allowed-origins"`
	MaxBodyBytes          int64    `json:"max-body-bytes"`
	SessionTimeoutSeconds int64    `json:"session-timeout-seconds"`
	DrainSeconds          int64    `json:"drain-seconds"`
	DrainDelaySeconds     int64    `json:"drain-delay-seconds"` // ready no more, and still serving
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

// Approvals says how other systems learn of questions to humans, and answer.
type Approvals struct {
	Webhook  ApprovalWebhook  `json:"webhook"`
	Callback ApprovalCallback `json:"callback"`
}

// ApprovalWebhook is who is told of questions.
type ApprovalWebhook struct {
	URL            string `json:"url"` // "" = nobody
	SecretFile     string `json:"secret-file"`
	CAFile         string `json:"ca-file"`
	ServerName     string `json:"server-name"`
	CertFile       string `json:"cert-file"`
	KeyFile        string `json:"key-file"`
	HeaderFile     string `json:"header-file"`
	TimeoutSeconds int64  `json:"timeout-seconds"`
}

// ApprovalCallback is who may answer by a signed message.
type ApprovalCallback struct {
	SecretFile string   `json:"secret-file"` // "" = nobody
	Groups     []string `json:"groups"`
}

// Limits bound what the process takes on, whoever asks. What callers may do is
// policy.
type Limits struct {
	Running       int64 `json:"running"`       // calls at one time
	Waiting       int64 `json:"waiting"`       // further ones, for their turn
	WaitMillis    int64 `json:"wait-millis"`   // of one of them
	Requests      int64 `json:"requests"`      // messages over HTTP at one time
	BodyBytes     int64 `json:"body-bytes"`    // of their bodies together
	SharePercent  int64 `json:"share-percent"` // of both, for one principal
	Listens       int64 `json:"listens"`       // requests that wait for news
	ListensEach   int64 `json:"listens-each"`  // of one principal
	Connections   int64 `json:"connections"`
	Sessions      int64 `json:"sessions"`
	SessionsEach  int64 `json:"sessions-each"` // of one principal
	ReaderSeconds int64 `json:"reader-seconds"`
	HeapFloor     int64 `json:"heap-floor-bytes"` // 0 = none
}

// Telemetry says where traces go.
type Telemetry struct {
	TracesURL     string `json:"traces-url"` // "" = there are none
	SamplePercent int64  `json:"sample-percent"`
	CAFile        string `json:"ca-file"`
	ServerName    string `json:"server-name"`
	CertFile      string `json:"cert-file"`
	KeyFile       string `json:"key-file"`
	HeaderFile    string `json:"header-file"`
}

// Auth says who may call over HTTP; without any of it, whoever runs programs
// on this host.
type Auth struct {
	APIKeys     bool   `json:"api-keys"`
	Resource    string `json:"resource"` // URI of this server, "" = none
	OpenMetrics bool   `json:"open-metrics"`
	OIDC        OIDC   `json:"oidc"`
	MTLS        MTLS   `json:"mtls"` // on where TLS.ClientCAFile is set
}

// OIDC says which access tokens hold.
type OIDC struct {
	Issuer           string   `json:"issuer"`   // "" = none are taken
	Audience         string   `json:"audience"` // "" = Auth.Resource
	Algorithms       []string `json:"algorithms"`
	Scopes           []string `json:"scopes"`       // that each has to have
	GroupsClaim      string   `json:"groups-claim"` // name, or RFC 6901 pointer
	TypedTokens      bool     `json:"typed-tokens"`
	ClockSkewSeconds int64    `json:"clock-skew-seconds"`
	CAFile           string   `json:"ca-file"` // "" = those of the system
}

// MTLS says what a client certificate tells of its caller.
type MTLS struct {
	Subject string `json:"subject"` // cn, san-dns, san-uri, san-email
	Groups  string `json:"groups"`  // none, ou, o
}

// TLS says how the MCP endpoint over HTTP is encrypted. Files are PEM.
type TLS struct {
	CertFile           string `json:"cert-file"` // "" = not
	KeyFile            string `json:"key-file"`
	ClientCAFile       string `json:"client-ca-file"` // "" = no client certificates
	TerminatedUpstream bool   `json:"terminated-upstream"`
}
