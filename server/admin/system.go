package admin

import (
	"cmp"
	"context"
	_ "embed"
	"io/fs"
	"net/http"
	"net/http/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/docs"
	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
	"github.com/toolwarrant/toolwarrant/spec"
	"github.com/toolwarrant/toolwarrant/spec/script"
)

//go:embed openapi.yaml
var description []byte

func openapi(w http.ResponseWriter, _ *call) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(description)
}

func me(c *call) (answer, error) {
	return answer{body: map[string]any{"principal": c.who, "roles": c.s.opt.Service.Roles(c.who)}}, nil
}

// policyView is what is told of a policy. Why a newer one is refused is for
// whoever can put that right, which a viewer may be.
type policyView struct {
	Policy      string       `json:"policy"`
	Revision    string       `json:"revision"`
	Bundle      string       `json:"bundle"` // "" where it is none
	ActivatedAt time.Time    `json:"activatedAt"`
	LastError   *fault.Error `json:"lastError"`
	LastErrorAt *time.Time   `json:"lastErrorAt"`
}

func viewPolicy(st service.PolicyStatus) policyView {
	v := policyView{Policy: st.Policy, Revision: st.Revision, Bundle: st.Bundle, ActivatedAt: st.ActivatedAt.UTC(), LastError: st.LastError}
	if st.LastError != nil {
		at := st.LastErrorAt.UTC()
		v.LastErrorAt = &at
	}
	return v
}

func shadowOf(s *service.Service) *policyView {
	st := s.ShadowStatus()
	if st == nil {
		return nil
	}
	v := viewPolicy(*st)
	return &v
}

// sinkView is one further place of the log.
type sinkView struct {
	Name          string  `json:"name"`
	Required      bool    `json:"required"`
	Up            bool    `json:"up"`
	Waiting       int64   `json:"waiting"`
	BehindSeconds float64 `json:"behindSeconds"`
	Lost          int64   `json:"lost"`
}

func health(c *call) (answer, error) {
	s := c.s.opt.Service
	body := struct {
		Status    string           `json:"status"`
		Error     *fault.Error     `json:"reason"` // what calls are refused with, or null
		Version   string           `json:"version"`
		Isolation worker.Isolation `json:"isolation"`
		Policy    policyView       `json:"policy"`
		Shadow    *policyView      `json:"shadow"`
		Sinks     []sinkView       `json:"sinks"`
	}{Status: "ok", Version: c.s.opt.Version, Isolation: s.Engine.Runtime.Isolation(), Policy: viewPolicy(s.PolicyStatus()), Shadow: shadowOf(s), Sinks: []sinkView{}}
	if err := s.Health(); err != nil {
		body.Status, body.Error = "unavailable", fault.From(err)
	}
	for _, st := range s.Sinks() {
		body.Sinks = append(body.Sinks, sinkView{st.Name, st.Required, st.Err == nil, st.Waiting, st.Behind(time.Now()).Seconds(), st.Lost})
	}
	return answer{body: body}, nil
}

func policy(c *call) (answer, error) {
	s := c.s.opt.Service
	return answer{body: map[string]any{"policy": viewPolicy(s.PolicyStatus()), "shadow": shadowOf(s)}}, nil
}

// ruleView is a rule with its page.
type ruleView struct {
	resolver.Rule
	Page *string `json:"page"` // Markdown, null where there is none
}

func listRules(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	rules := []resolver.Rule{}
	for _, r := range c.s.opt.Service.Policy.Rules() {
		rules = append(rules, r)
	}
	slices.SortFunc(rules, func(a, b resolver.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return answer{body: map[string]any{"revision": c.s.opt.Service.Policy.Revision(), "rules": rules}}, nil
}

func getRule(c *call) (answer, error) {
	id, err := c.id("rule")
	if err != nil {
		return answer{}, err
	}
	rule, known := c.s.opt.Service.Policy.Rules()[id]
	page, err := fs.ReadFile(docs.Rules, "rules/"+id+".md")
	if !known && err != nil {
		return answer{}, fault.New(fault.NotFound, "no-such-rule", "there is no rule %q", id)
	}
	v := ruleView{Rule: rule}
	v.ID = id
	if err == nil {
		text := string(page)
		v.Page = &text
	}
	return answer{body: v}, nil
}

// runtimeFacts is what code can use here.
func runtimeFacts(c *call) (answer, error) {
	rt := spec.ThisRuntime()
	return answer{body: map[string]any{
		"id": rt.ID, "version": rt.Version, "ecmaVersion": "2024", "isolation": c.s.opt.Service.Engine.Runtime.Isolation(),
		"globals": script.Globals(), "helpers": js.HelperGroups(),
	}}, nil
}

func reload(c *call) (act, error) {
	if err := c.readNothing(); err != nil {
		return act{}, err
	}
	s := c.s
	return act{detail: map[string]any{}, do: func(ctx context.Context) (answer, error) {
		// Half a reload is none: a client that leaves does not stop it.
		if err := s.opt.Reload(context.WithoutCancel(ctx)); err != nil {
			return answer{}, err
		}
		return answer{body: map[string]any{"policy": viewPolicy(s.opt.Service.PolicyStatus()), "catalogRevision": s.opt.Service.Catalog.Revision()}}, nil
	}}, nil
}

// maxProfile bounds how long a profile or a trace may be taken, in seconds.
const maxProfile = 60

// profiles gives the profiles of the process, as net/http/pprof does. They
// show code and sizes, and never the content of a call.
func profiles(w http.ResponseWriter, c *call) {
	if seconds := c.r.FormValue("seconds"); seconds != "" {
		if n, err := strconv.Atoi(seconds); err != nil || n < 1 || n > maxProfile {
			c.s.fail(w, fault.New(fault.Usage, "seconds", "seconds is a whole number from 1 to %d", maxProfile), 0)
			return
		}
	}
	w.Header().Del("Content-Security-Policy")
	switch name := strings.TrimPrefix(c.r.URL.Path, base+"/debug/pprof/"); name {
	case "":
		r := c.r.Clone(c.ctx())
		r.URL.Path = "/debug/pprof/" // which the index knows itself by
		pprof.Index(w, r)
	case "cmdline": // of no use to a profile, and may name files
		c.s.fail(w, fault.New(fault.NotFound, "no-such-path", "there is no such profile"), 0)
	case "profile":
		pprof.Profile(w, c.r)
	case "symbol":
		pprof.Symbol(w, c.r)
	case "trace":
		pprof.Trace(w, c.r)
	default:
		pprof.Handler(name).ServeHTTP(w, c.r)
	}
}
