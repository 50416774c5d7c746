package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// jobView is a job with what the sender may do with it.
type jobView struct {
	service.Job
	Actions []service.Permission `json:"actions"`
}

// viewJob shows what a job says to whoever began it, and to an admin. Anybody
// else may not see every tool that it is about.
func (c *call) viewJob(j service.Job) jobView {
	if !c.manages() && !c.s.jobs.Owns(j.ID, c.who) {
		j.Result, j.Step = json.RawMessage("null"), ""
		if j.Error != nil {
			j.Error = fault.New(j.Error.Code, j.Error.Reason, "the job did not succeed; whoever began it is told why")
		}
	}
	p := service.Permission{Act: "cancel", Allowed: true}
	err := c.s.opt.Service.Needs(c.who, service.RoleAuthor)
	if err == nil {
		err = c.s.jobs.MayCancel(j.ID, c.who, c.manages())
	}
	if f := fault.From(err); f != nil {
		p = service.Permission{Act: "cancel", Code: f.Code, Reason: f.Reason, Message: f.Message}
	}
	return jobView{Job: j, Actions: []service.Permission{p}}
}

// job begins long work and answers where it is found.
func (c *call) job(kind string, total int, work func(context.Context, service.Progress) (any, error)) (answer, error) {
	j, err := c.s.jobs.Start(kind, c.who, total, work)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusAccepted, body: c.viewJob(j), header: map[string]string{"Location": base + "/jobs/" + j.ID}}, nil
}

func listJobs(c *call) (answer, error) {
	v, err := c.query("limit")
	if err != nil {
		return answer{}, err
	}
	n, err := limit(v)
	if err != nil {
		return answer{}, err
	}
	items := []jobView{}
	for _, j := range c.s.jobs.List() {
		if len(items) == n {
			break
		}
		items = append(items, c.viewJob(j))
	}
	return answer{body: map[string]any{"items": items}}, nil
}

func getJob(c *call) (answer, error) {
	id, err := c.id("id")
	if err != nil {
		return answer{}, err
	}
	j, err := c.s.jobs.Get(id)
	return answer{body: c.viewJob(j)}, err
}

func cancelJob(c *call) (act, error) {
	id, err := c.id("id")
	if err != nil {
		return act{}, err
	}
	if err := c.readNothing(); err != nil {
		return act{}, err
	}
	if err := c.s.jobs.MayCancel(id, c.who, c.manages()); err != nil {
		return act{}, err
	}
	return act{detail: map[string]any{"jobId": id}, do: func(context.Context) (answer, error) {
		j, err := c.s.jobs.Cancel(id, c.who, c.manages())
		return answer{body: c.viewJob(j)}, err
	}}, nil
}

// testView is how one Local Pass ended.
type testView struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Mode   string `json:"mode"`
	executor.View
}

// maxTests bounds the tools of one job.
const maxTests = 1000

// testTools runs the Local Pass of tools, one after the other: a job.
func testTools(c *call) (act, error) {
	var in struct {
		Tools []string `json:"tools"`
		All   bool     `json:"all"`
	}
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	s := c.s.opt.Service
	if in.All == (len(in.Tools) > 0) || len(in.Tools) > maxTests {
		return act{}, fault.New(fault.Usage, "bad-value", "name the tools to test, at most %d, or say all: true", maxTests)
	}
	var tools []*catalog.Tool
	for _, name := range in.Tools {
		t, err := s.ToolFor(c.ctx(), c.who, name)
		if err != nil {
			return act{}, err
		}
		tools = append(tools, t)
	}
	if in.All {
		all, err := s.Catalog.List(c.ctx())
		if err != nil {
			return act{}, err
		}
		for _, t := range all {
			seen, err := s.MaySee(c.ctx(), c.who, t)
			if err != nil {
				return act{}, err
			}
			if seen {
				tools = append(tools, t)
			}
		}
	}
	ids := []string{}
	for _, t := range tools {
		ids = append(ids, t.Spec.ToolID)
	}
	detail := map[string]any{"all": in.All, "tools": len(tools), "toolIds": slices.Clip(ids[:min(len(ids), 20)])}
	return act{detail: detail, do: func(context.Context) (answer, error) {
		return c.job("test", len(tools), func(ctx context.Context, progress service.Progress) (any, error) {
			results := []testView{}
			failed := 0
			for i, t := range tools {
				if ctx.Err() != nil {
					return nil, errors.New("cancelled")
				}
				progress(i, t.Spec.Name)
				r := s.Test(ctx, c.who, t, service.TestOptions{})
				v := testView{Name: t.Spec.Name, Passed: r.Passed(), Mode: r.Mode, View: r.Result.View()}
				if !v.Passed {
					failed++
				}
				if len(tools) > 1 { // of many tools nobody reads these, and they would be cut
					v.Decision, v.Logs = nil, nil
				}
				results = append(results, v)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return map[string]any{"results": results, "summary": map[string]int{"passed": len(results) - failed, "failed": failed}}, nil
		})
	}}, nil
}
