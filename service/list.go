package service

import (
	"cmp"
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Entry is one tool as a person looks at the catalog.
type Entry struct {
	ToolID    string   `json:"toolId"`
	Name      string   `json:"name"`
	Category  string   `json:"category"`
	Tags      []string `json:"tags"`
	State     string   `json:"state"`
	RiskLevel string   `json:"riskLevel"` // "" when the policy rejects the tool
	Approval  string   `json:"approval"`  // REQUIRED, DISABLED, AUTO_APPROVED, "" when rejected
	Exposed   bool     `json:"exposed"`
	Why       string   `json:"why"` // why it is exposed, or why not
}

// List gives every tool of the catalog with its level, by name.
func (s *Service) List(ctx context.Context, p decision.Principal) ([]Entry, error) {
	tools, err := s.Catalog.List(ctx)
	if err != nil {
		return nil, err
	}
	// A decision is made on one core: as many are asked for as there are.
	entries, errs := make([]Entry, len(tools)), make([]error, len(tools))
	var next atomic.Int64
	var failed atomic.Bool
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tools)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tools) && !failed.Load(); i = int(next.Add(1)) - 1 {
				if entries[i], errs[i] = s.Entry(ctx, p, tools[i]); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return entries, nil
}

// Entry is one tool as List gives it.
func (s *Service) Entry(ctx context.Context, p decision.Principal, t *catalog.Tool) (Entry, error) {
	e := Entry{ToolID: t.Spec.ToolID, Name: t.Spec.Name, Category: t.Spec.Category, Tags: t.Spec.Tags, State: string(t.State), Why: t.Why}
	if e.Tags == nil {
		e.Tags = []string{}
	}
	e.Exposed, e.Why = s.exposed(t)
	d, err := s.Decide(ctx, t, p, decision.OriginList, nil)
	switch f := fault.From(err); {
	case f != nil && f.Code == fault.PolicyUnavailable:
		return Entry{}, err
	case f != nil:
		e.Exposed, e.Why = false, f.Message
	default:
		e.RiskLevel, e.Approval = d.RiskLevel, d.HumanInTheLoop.Mode
		if d.HumanInTheLoop.AutoApproved {
			e.Approval = "AUTO_APPROVED"
		}
	}
	return e, nil
}

func (s *Service) exposed(t *catalog.Tool) (bool, string) {
	if t.State != catalog.StateActive {
		return false, t.Why
	}
	return s.Catalog.Exposed(t)
}

// Decide asks the policy about a tool without calling it.
func (s *Service) Decide(ctx context.Context, t *catalog.Tool, p decision.Principal, origin decision.Origin, args []byte) (*decision.Decision, error) {
	return s.Policy.Resolve(ctx, resolver.Request{
		Tool:      policyTool(t),
		Principal: p, Origin: origin, Args: args, Approvals: decision.Standing(t.Approval), Now: time.Now(),
	})
}

// Outlook asks the policy for what a list shows of a tool.
func (s *Service) Outlook(ctx context.Context, t *catalog.Tool, p decision.Principal) (resolver.Outlook, error) {
	return s.Policy.Outlook(ctx, p, policyTool(t))
}

// Visible lists the tools that p may see and call now, by name: active,
// exposed, and not hidden by the policy.
func (s *Service) Visible(ctx context.Context, p decision.Principal) ([]*catalog.Tool, error) {
	served, asked, err := s.served(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := s.Policy.Visible(ctx, p, asked)
	if err != nil {
		return nil, err
	}
	visible := served[:0]
	for i, t := range served {
		if seen[i] {
			visible = append(visible, t)
		}
	}
	return visible, nil
}

// served gives the tools that are active and exposed, by name, and each as the
// policy sees it.
func (s *Service) served(ctx context.Context) (served []*catalog.Tool, asked []resolver.Tool, err error) {
	all, err := s.Catalog.List(ctx)
	for _, t := range all {
		if ok, _ := s.exposed(t); ok {
			served = append(served, t)
			asked = append(asked, policyTool(t))
		}
	}
	return served, asked, err
}

// secretsEvery is how soon a list takes notice of a secret that came or went.
const secretsEvery = time.Second

// revisions remembers the revision of all lists.
type revisions struct {
	mu                    sync.Mutex
	policy, content, last string
	asked                 time.Time
}

// ListRevision names what the lists of all callers depend on beside who asks:
// the policy in force, the tools and their state, and which of them lack a
// secret. It changes at once with the first two, and within secretsEvery with
// the last. It is cheap.
func (s *Service) ListRevision() string {
	policy, content := s.Policy.Revision(), s.Catalog.Content()+"/"+strconv.FormatInt(s.generation.Load(), 10)
	r := &s.revisions
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); r.policy != policy || r.content != content || now.Sub(r.asked) >= secretsEvery {
		r.policy, r.content, r.asked = policy, content, now
		r.last = policy + "/" + content + "/" + s.Catalog.Revision()
	}
	return r.last
}

// catalogOptions derive the catalog's options from the configuration. What a
// tool lacks is looked up at the time of asking, so that a secret that
// appears makes its tool active without a restart.
func (s *Service) catalogOptions(secrets *secret.Resolver) catalog.Options {
	c := s.Config.Catalog
	return catalog.Options{
		Home: s.Home, Dirs: c.Dirs, TrustDirs: c.TrustFolders, Preset: c.Preset,
		Include: catalog.Rules(c.Include), Exclude: catalog.Rules(c.Exclude),
		Missing: func(t *catalog.Tool) []string {
			o, err := s.Outlook(context.Background(), t, decision.Principal{Subject: "system", Method: "none"})
			if err != nil {
				return nil // the policy's own answer to a call says why
			}
			_, _, missing, err := secrets.Resolve(t.Spec.StaticVariables, o.EffectivePolicy.Env)
			if err != nil {
				return t.Spec.Placeholders()
			}
			names := make([]string, len(missing))
			for i, m := range missing {
				names[i] = m.Name
			}
			return names
		},
	}
}

// OpenCatalog reads the catalog that cfg names without opening the rest of
// the installation: for verbs that only ask about tools.
func OpenCatalog(ctx context.Context, home string, cfg *config.Config) (*catalog.Catalog, error) {
	c := cfg.Catalog
	return catalog.Open(ctx, catalog.Options{
		Home: home, Dirs: c.Dirs, TrustDirs: c.TrustFolders, Preset: c.Preset,
		Include: catalog.Rules(c.Include), Exclude: catalog.Rules(c.Exclude),
	})
}

// PolicyTool is a tool as the policy sees it.
func PolicyTool(t *catalog.Tool) resolver.Tool { return policyTool(t) }

func policyTool(t *catalog.Tool) resolver.Tool {
	return resolver.Tool{Spec: t.Spec, Source: string(t.Source), ManifestEnv: t.Env}
}
