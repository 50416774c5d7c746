package admin

import (
	"context"

	"github.com/toolwarrant/toolwarrant/fault"
)

// exposure gives what the configuration in force says about what is served, and
// the kept choices for the installation. What was chosen for a tool is in the
// catalog.
func exposure(c *call) (answer, error) {
	cat, kept := c.s.opt.Service.CatalogInForce(), c.s.opt.Service.Exposure()
	return answer{body: map[string]any{"preset": cat.Preset, "include": cat.Include, "exclude": cat.Exclude,
		"kept": map[string]any{"preset": kept.Preset, "autoExpose": kept.AutoExpose}}}, nil
}

// maxChosen bounds the tools of one choice.
const maxChosen = 1000

// choose changes what is served, for the installation.
func choose(c *call) (act, error) {
	var in Choice
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	if c.s.opt.Choose == nil {
		return act{}, fault.New(fault.Usage, "not-offered", "what is served cannot be chosen here; see the config keys catalog.*")
	}
	set := 0
	for _, is := range []bool{in.Preset != nil, in.AutoExpose != nil, in.Expose != nil, in.Hide != nil} {
		if is {
			set++
		}
	}
	if names := len(in.Expose) + len(in.Hide); set != 1 || names > maxChosen || names == 0 && in.Preset == nil && in.AutoExpose == nil {
		return act{}, fault.New(fault.Usage, "bad-value", "give one of preset, autoExpose, expose and hide, and at most %d tools", maxChosen)
	}
	for _, name := range append(append([]string{}, in.Expose...), in.Hide...) {
		if _, err := c.s.opt.Service.ToolFor(c.ctx(), c.who, name); err != nil {
			return act{}, err
		}
	}
	detail := map[string]any{}
	switch {
	case in.Preset != nil:
		detail["preset"] = cut(*in.Preset)
	case in.AutoExpose != nil:
		detail["autoExpose"] = *in.AutoExpose
	default:
		detail["expose"], detail["hide"] = len(in.Expose), len(in.Hide)
	}
	return act{detail: detail, do: func(ctx context.Context) (answer, error) {
		if err := c.s.opt.Choose(ctx, c.who, in); err != nil {
			return answer{}, err
		}
		return answer{body: map[string]any{"catalogRevision": c.s.opt.Service.Catalog.Revision()}}, nil
	}}, nil
}

// setApproval changes when a human is asked about a tool.
func setApproval(c *call) (act, error) {
	t, err := c.tool()
	if err != nil {
		return act{}, err
	}
	var in struct {
		Mode      string `json:"mode"`
		Reason    string `json:"reason"`
		Confirmed bool   `json:"confirmed"`
	}
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	if c.s.opt.SetApproval == nil {
		return act{}, fault.New(fault.Usage, "not-offered", "when a human is asked cannot be changed here; it is in the document of the tool, and in the policy")
	}
	detail := map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "mode": cut(in.Mode), "reason": cut(in.Reason), "confirmed": in.Confirmed}
	return act{detail: detail, do: func(ctx context.Context) (answer, error) {
		changed, err := c.s.opt.SetApproval(ctx, c.who, t, in.Mode, in.Reason, in.Confirmed)
		if err != nil {
			return answer{}, err
		}
		return answer{body: map[string]any{"change": changed}}, nil
	}}, nil
}
