package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// toolItem is a tool of a list.
type toolItem struct {
	service.Entry
	Source  catalog.Source       `json:"source"`
	Actions []service.Permission `json:"actions"`
}

// toolView is one tool with its document and its decision.
type toolView struct {
	toolItem
	Spec     json.RawMessage    `json:"spec"`
	Decision *decision.Decision `json:"decision"` // null where the layers reject it
	Rejected *fault.Error       `json:"rejected"` // why they do
	Visible  bool               `json:"visible"`  // by the policy, to the sender
}

func listTools(c *call) (answer, error) {
	v, err := c.query("limit", "cursor", "state", "q")
	if err != nil {
		return answer{}, err
	}
	state := v.Get("state")
	known := []string{string(catalog.StateActive), string(catalog.StateDraft), string(catalog.StateMissingRequirements), string(catalog.StateTestFailed)}
	if state != "" && !slices.Contains(known, state) {
		return answer{}, fault.New(fault.Usage, "state", "state is one of %s", strings.Join(known, ", "))
	}
	s := c.s.opt.Service
	all, err := s.Catalog.List(c.ctx())
	if err != nil {
		return answer{}, err
	}
	text := strings.ToLower(v.Get("q"))
	wanted := slices.DeleteFunc(slices.Clone(all), func(t *catalog.Tool) bool {
		return state != "" && string(t.State) != state || text != "" && !mentions(t, text)
	})
	items, next, err := c.pageOfTools(v, "catalog", wanted)
	return answer{body: map[string]any{"items": items, "next": next, "revision": s.Catalog.Revision()}}, err
}

// pageOfTools gives the asked part of those tools that exist for the sender, by
// name, and where the next one begins. list names the list in its cursors.
func (c *call) pageOfTools(v url.Values, list string, tools []*catalog.Tool) (items []toolItem, next *string, err error) {
	var seen []*catalog.Tool
	for _, t := range tools {
		ok, err := c.s.opt.Service.MaySee(c.ctx(), c.who, t)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			seen = append(seen, t)
		}
	}
	key := func(t *catalog.Tool) string { return t.Spec.Name + "\x00" + t.Spec.ToolID }
	slices.SortFunc(seen, func(a, b *catalog.Tool) int { return strings.Compare(key(a), key(b)) })
	part, next, err := page(v, list, seen, key)
	if err != nil {
		return nil, nil, err
	}
	items = make([]toolItem, len(part))
	for i, t := range part {
		if items[i], err = c.item(t); err != nil {
			return nil, nil, err
		}
	}
	return items, next, nil
}

func mentions(t *catalog.Tool, text string) bool {
	for _, s := range append([]string{t.Spec.Name, t.Spec.Description, t.Spec.Category}, t.Spec.Tags...) {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	return false
}

func (c *call) item(t *catalog.Tool) (toolItem, error) {
	s := c.s.opt.Service
	e, err := s.Entry(c.ctx(), c.who, t)
	if err != nil {
		return toolItem{}, err
	}
	return toolItem{Entry: e, Source: t.Source, Actions: s.ToolPermissions(c.ctx(), c.who, t)}, nil
}

// tool finds the tool of the path, if it exists for the sender.
func (c *call) tool() (*catalog.Tool, error) {
	name, err := c.toolName()
	if err != nil {
		return nil, err
	}
	return c.s.opt.Service.ToolFor(c.ctx(), c.who, name)
}

func getTool(c *call) (answer, error) {
	t, err := c.tool()
	if err != nil {
		return answer{}, err
	}
	v, err := c.view(t)
	return answer{body: v, header: tag(t)}, err
}

func (c *call) view(t *catalog.Tool) (v toolView, err error) {
	s := c.s.opt.Service
	if v.toolItem, err = c.item(t); err != nil {
		return v, err
	}
	v.Spec = t.Spec.Standalone()
	if v.Visible, err = s.MaySeeCalling(c.ctx(), c.who, t); err != nil {
		return v, err
	}
	v.Decision, err = s.Decide(c.ctx(), t, c.who, decision.OriginList, nil)
	if f := fault.From(err); f != nil {
		if f.Code != fault.ResolverReject {
			return v, err
		}
		v.Rejected = f
	}
	return v, nil
}

// runTool is one governed call. Whatever is wrong with it, the pipeline says
// so and leaves the record: nothing is looked at before.
func runTool(c *call) (act, error) {
	name, err := c.toolName()
	if err != nil {
		return act{}, c.refusedRun("", err)
	}
	var in struct {
		Args json.RawMessage `json:"args"`
	}
	if err := c.read(&in); err != nil {
		return act{}, c.refusedRun(name, err)
	}
	return act{do: func(ctx context.Context) (answer, error) {
		r := c.s.opt.Service.Engine.Call(ctx, executor.Call{Principal: c.who, Origin: decision.OriginAdmin, Name: name, Args: in.Args})
		status := http.StatusOK
		if r.Err != nil {
			status = statusOf(r.Err)
		}
		return answer{status: status, body: r.View()}, nil
	}}, nil
}

// refusedRun puts on record a call that is refused before it can be made, as a
// broken message of MCP is. Without the record the answer says no more than
// that there is none.
func (c *call) refusedRun(name string, err error) error {
	f := fault.From(err)
	in := executor.Call{Principal: c.who, Origin: decision.OriginAdmin, Name: name}
	// A client that leaves must not be able to lose its record.
	r := c.s.opt.Service.Engine.Refuse(context.WithoutCancel(c.ctx()), in, f)
	if r.Err != nil && r.Err.Code == fault.AuditUnavailable {
		return r.Err
	}
	return err
}

// publishTool is testing and, if that passes, serving exactly what passed: a
// job.
func publishTool(c *call) (act, error) {
	t, err := c.tool()
	if err != nil {
		return act{}, err
	}
	var in struct {
		Justification string `json:"justification"`
		Reason        string `json:"reason"`
		Confirmed     bool   `json:"confirmed"`
	}
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	s, consent := c.s.opt.Service, service.Consent{Reason: in.Reason, Confirmed: in.Confirmed}
	if err := s.MayTool(c.ctx(), c.who, t, service.ActPublish, in.Justification); err != nil {
		return act{}, err
	}
	if plan, err := s.PlanPublish(c.ctx(), c.who, t); err != nil {
		return act{}, err
	} else if err := plan.Covered(consent); err != nil {
		return act{}, err
	}
	if s.Needs(c.who, service.RoleAdmin) != nil {
		consent = service.Consent{} // what is in service may change until the job runs
	}
	detail := map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "specDigest": t.Spec.Digest(), "justification": cut(in.Justification)}
	return act{detail: detail, do: func(context.Context) (answer, error) {
		return c.job("publish", 1, func(ctx context.Context, progress service.Progress) (any, error) {
			progress(0, t.Spec.Name)
			r, err := s.PublishLowering(ctx, c.who, t, in.Justification, consent, service.TestOptions{})
			if err != nil {
				return nil, err
			}
			return testView{Name: t.Spec.Name, Passed: r.Passed(), Mode: r.Mode, View: r.Result.View()}, nil
		})
	}}, nil
}

// cut bounds what goes into an event.
func cut(s string) string {
	if len(s) > 2000 {
		return strings.ToValidUTF8(s[:2000], "")
	}
	return s
}

func draftTool(c *call) (act, error) {
	t, err := c.tool()
	if err != nil {
		return act{}, err
	}
	if err := c.readNothing(); err != nil {
		return act{}, err
	}
	s := c.s.opt.Service
	if err := s.MayTool(c.ctx(), c.who, t, service.ActDraft, ""); err != nil {
		return act{}, err
	}
	return act{detail: map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name}, do: func(ctx context.Context) (answer, error) {
		if err := s.Draft(ctx, c.who, t); err != nil {
			return answer{}, err
		}
		now, err := s.Catalog.Lookup(ctx, t.Spec.ToolID)
		if err != nil {
			return answer{}, err
		}
		item, err := c.item(now)
		return answer{body: item}, err
	}}, nil
}
