package service

import (
	"context"
	"slices"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Exposed is one tool after a choice about it: whether callers have it now, and
// why or why not. A choice that the configuration overrides is kept and has no
// effect here, which Why says.
type Exposed struct {
	ToolID  string `json:"toolId"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Exposed bool   `json:"exposed"`
	Why     string `json:"why"`
}

// Exposure is what was chosen about exposure, and what of it has no effect.
type Exposure struct {
	Preset     string             `json:"preset"` // "" = none was chosen
	AutoExpose bool               `json:"autoExpose"`
	Overridden []catalog.Override `json:"overridden"`
}

// Exposure gives what is kept about exposure now.
func (s *Service) Exposure() Exposure {
	k := s.Catalog.Kept()
	return Exposure{Preset: k.Preset, AutoExpose: k.AutoExpose, Overridden: append([]catalog.Override{}, s.Catalog.Overrides()...)}
}

// KeepPreset chooses the bundled tools to start from, for this installation and
// until another is chosen; "" takes the choice back. An unknown preset is a
// USAGE error that names the nearest one.
func (s *Service) KeepPreset(ctx context.Context, p decision.Principal, id string) error {
	if id != "" {
		if err := s.Catalog.KnowsPreset(id); err != nil {
			return err
		}
	}
	return s.keep(ctx, p, "exposure.preset", func(k *catalog.Kept) error { k.Preset = id; return nil }, func(old, new catalog.Kept) map[string]any {
		return map[string]any{"old": old.Preset, "new": new.Preset}
	})
}

// AutoExpose chooses whether a user tool that is published for the first time
// is served at once.
func (s *Service) AutoExpose(ctx context.Context, p decision.Principal, on bool) error {
	return s.keep(ctx, p, "exposure.auto-expose", func(k *catalog.Kept) error { k.AutoExpose = on; return nil }, func(old, new catalog.Kept) map[string]any {
		return map[string]any{"old": old.AutoExpose, "new": new.AutoExpose}
	})
}

// Expose serves tools, by name or toolId: all of them, or none where one is not
// there. A draft stays a draft, and is served as soon as it is published.
func (s *Service) Expose(ctx context.Context, p decision.Principal, names []string) ([]Exposed, error) {
	return s.choose(ctx, p, "exposure.expose", catalog.ExposureExposed, names)
}

// Hide makes tools not exist for callers, by name or toolId: all of them, or
// none where one is not there. Their owner can still test and publish them.
func (s *Service) Hide(ctx context.Context, p decision.Principal, names []string) ([]Exposed, error) {
	return s.choose(ctx, p, "exposure.hide", catalog.ExposureHidden, names)
}

func (s *Service) choose(ctx context.Context, p decision.Principal, kind, choice string, names []string) ([]Exposed, error) {
	tools, err := s.Catalog.Tools(ctx, names)
	if err != nil {
		return nil, err
	}
	edit := func(k *catalog.Kept) error {
		for _, t := range tools {
			k.Choices[t.Spec.ToolID] = choice
		}
		return nil
	}
	err = s.keep(ctx, p, kind, edit, func(old, _ catalog.Kept) map[string]any {
		list := []map[string]any{}
		for _, t := range tools {
			list = append(list, map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "old": old.Choices[t.Spec.ToolID]})
		}
		return map[string]any{"tools": list}
	})
	if err != nil {
		return nil, err
	}
	out := make([]Exposed, 0, len(tools))
	for _, t := range tools {
		now, err := s.Catalog.Lookup(ctx, t.Spec.ToolID)
		if err != nil {
			return nil, err
		}
		e := Exposed{ToolID: now.Spec.ToolID, Name: now.Spec.Name, State: string(now.State)}
		e.Exposed, e.Why = s.exposed(now)
		if !slices.Contains(out, e) { // a tool may be named twice
			out = append(out, e)
		}
	}
	return out, nil
}

// keep changes what is kept. The event is on record before it takes effect;
// where the change cannot be written after that, the log says so as well. What
// is as it was already is no change and no event.
func (s *Service) keep(ctx context.Context, p decision.Principal, kind string, edit func(*catalog.Kept) error, detail func(old, new catalog.Kept) map[string]any) error {
	recorded := false
	_, err := s.Catalog.Keep(ctx, edit, func(old, new catalog.Kept) error {
		err := s.event(ctx, kind, p, detail(old, new))
		recorded = err == nil
		return err
	})
	if err != nil && recorded {
		s.undone(ctx, kind, p, err)
	}
	return err
}

// undone records that what an event announced did not come about.
func (s *Service) undone(ctx context.Context, kind string, p decision.Principal, cause error) {
	f := fault.From(cause)
	if err := s.event(ctx, kind+".failed", p, map[string]any{"code": string(f.Code), "reason": f.Reason}); err != nil {
		s.logger.Error().Err(err).Str("event", kind).Msg("a change that is on record did not come about, and that could not be recorded")
	}
}
