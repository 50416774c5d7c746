package catalog

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Options say which tools a Catalog holds and which of them are served.
type Options struct {
	Home string   // user tools and state.json are under <Home>/catalog; "" = neither
	Dirs []string // operator folders
	// TrustDirs makes draft:false enough for a tool of Dirs to be ACTIVE. Without it
	// a pass of exactly its digest has to be known, as for those under Home.
	TrustDirs bool
	Preset    string // "" = the kept one or the default, or nothing when Include says what is wanted
	Include   Rules  // adds bundled tools to the preset
	Exclude   Rules  // takes away, bundled and user tools alike; it always wins

	// Missing gives the placeholder names of a tool that have no value now or
	// that it may not resolve. It is asked at every Lookup and List, for
	// tools that have placeholders; nil means that nothing is ever missing.
	// It must be safe for concurrent use and must not call the Catalog.
	Missing func(*Tool) []string
}

// Catalog is the Store of one machine: the bundled tools, operator folders
// and the folder under the home. Reading never blocks; changes are made one
// at a time, under a lock that other processes respect.
type Catalog struct {
	options Options
	bundle  *bundle
	rules   chooser
	now     func() time.Time

	content atomic.Pointer[snapshot]

	mu       sync.Mutex // guards what follows, and the order of snapshots
	docs     []document
	findings []*fault.Error // of the folders
	state    state
}

var _ Store = (*Catalog)(nil)

// Open reads the catalog. An operator folder or a state file that cannot be
// read, and a preset or rule that names nothing, are errors of code USAGE; a
// single tool that cannot be read is a finding.
func Open(ctx context.Context, o Options) (*Catalog, error) {
	b, err := builtins()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, b)
}

func open(ctx context.Context, o Options, b *bundle) (*Catalog, error) {
	rules, err := newChooser(b, o)
	if err != nil {
		return nil, err
	}
	c := &Catalog{options: o, bundle: b, rules: rules, now: time.Now}
	if err := c.Reload(ctx); err != nil {
		return nil, err
	}
	if err := rules.check(b, append(slices.Clone(b.docs), c.docs...)); err != nil {
		return nil, err
	}
	return c, nil
}

// Lookup implements Store. A name goes before an id, since names are what
// callers use.
func (c *Catalog) Lookup(_ context.Context, nameOrID string) (*Tool, error) {
	s := c.content.Load()
	e, ok := s.byName[nameOrID]
	if other, is := s.byID[nameOrID]; is && (!ok || e.tool.State != StateActive) {
		e, ok = other, true // a draft takes no id by its name
	}
	if !ok {
		return nil, notFound(nameOrID)
	}
	return c.current(e), nil
}

func notFound(nameOrID string) error {
	return fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", nameOrID)
}

// List implements Store. The slice belongs to the catalog: do not change it.
func (c *Catalog) List(context.Context) ([]*Tool, error) {
	s := c.content.Load()
	if c.options.Missing == nil || len(s.dynamic) == 0 {
		return slices.Clip(s.tools), nil
	}
	tools := make([]*Tool, len(s.entries))
	for i, e := range s.entries {
		tools[i] = c.current(e)
	}
	return tools, nil
}

// Exposed reports whether t is offered to MCP clients, and why or why not. What
// is not ACTIVE now, or not in the catalog, is not exposed.
func (c *Catalog) Exposed(t *Tool) (bool, string) {
	e, ok := c.content.Load().byID[t.Spec.ToolID]
	if !ok {
		return false, "it is not in the catalog"
	}
	if now := c.current(e); now.State != StateActive && !e.tool.Hidden {
		return false, now.Why
	}
	return e.exposed, e.why
}

// Revision implements Store.
func (c *Catalog) Revision() string {
	s := c.content.Load()
	if c.options.Missing == nil || len(s.dynamic) == 0 {
		return s.digest
	}
	var b strings.Builder
	b.WriteString(s.digest)
	for _, e := range s.dynamic {
		b.WriteString("\n" + c.current(e).Why)
	}
	return digest.Bytes([]byte(b.String()))
}

// Content is Revision without what the moment takes away: it names documents
// and state, and not which tools lack a secret now. It costs nothing.
func (c *Catalog) Content() string { return c.content.Load().digest }

// Findings says what is wrong with the content of the catalog: documents that
// cannot be read, conflicts of names, bundled tools that are not what the
// build vouches for. None of these is served.
func (c *Catalog) Findings() []*fault.Error { return slices.Clone(c.content.Load().findings) }

// current gives the tool of e in the state that it has now.
func (c *Catalog) current(e *entry) *Tool {
	t := e.tool
	if c.options.Missing == nil || t.State != StateActive || len(t.Spec.Placeholders()) == 0 {
		return t
	}
	names := c.options.Missing(t)
	if len(names) == 0 {
		return t
	}
	why := "it needs " + strings.Join(names, ", ") +
		": grant each name with the config key secrets.grants, and put its value into the secrets file or the environment"
	if old := e.lacking.Load(); old != nil && old.Why == why {
		return old
	}
	lacking := *t
	lacking.State, lacking.Why = StateMissingRequirements, why
	e.lacking.Store(&lacking)
	return &lacking
}

// Reload implements Store.
func (c *Catalog) Reload(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reload(ctx)
}

// reload is Reload for those who hold c.mu.
func (c *Catalog) reload(ctx context.Context) error {
	docs, findings, err := readFolders(ctx, c.options)
	if err != nil {
		return err
	}
	st := emptyState()
	if c.options.Home != "" {
		if st, err = stateAfter(c.state, c.statePath()); err != nil {
			return err
		}
		if st.migrated {
			if err := migrate(ctx, c.statePath()); err != nil {
				return err
			}
		}
	}
	c.docs, c.findings, c.state = docs, findings, st
	c.publish()
	return nil
}

// publish makes the content that the fields stand for visible; c.mu is held.
func (c *Catalog) publish() {
	c.content.Store(build(c.bundle, c.docs, c.state, c.rules.with(c.bundle, c.state.Kept), c.findings))
}

func (c *Catalog) statePath() string { return filepath.Join(userDir(c.options.Home), stateFile) }
