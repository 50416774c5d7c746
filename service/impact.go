package service

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/impact"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Candidate compiles a policy that is looked at and not put into force: its
// own tests need not pass. It has what the operator of this installation set.
func Candidate(ctx context.Context, home string, cfg *config.Config, policy string) (*resolver.Resolver, error) {
	return resolver.New(ctx, resolver.Options{Policy: policy, Operator: Operator(home, cfg), Untested: true})
}

// installed are the tools of an installation, active or not.
func installed(ctx context.Context, home string, cfg *config.Config) ([]*catalog.Tool, error) {
	tools, err := OpenCatalog(ctx, home, cfg)
	if err != nil {
		return nil, err
	}
	return tools.List(ctx)
}

// DiffPolicies says what changes for the tools of this installation, active
// or not, from one policy to another.
func DiffPolicies(ctx context.Context, home string, cfg *config.Config, from, to string, q impact.Question) (*impact.DiffReport, error) {
	old, err := Candidate(ctx, home, cfg, from)
	if err != nil {
		return nil, err
	}
	new, err := Candidate(ctx, home, cfg, to)
	if err != nil {
		return nil, err
	}
	all, err := installed(ctx, home, cfg)
	if err != nil {
		return nil, err
	}
	asked := make([]resolver.Tool, len(all))
	for i, t := range all {
		asked[i] = policyTool(t)
	}
	return impact.Diff(ctx, old, new, asked, q)
}

// ReplayLog decides the calls of an audit log again: by the policy that cfg
// names, or, for impact.Recorded, by those that the log itself holds. What
// ran is looked for beside the log and in the audit folder of home, then in
// the catalog.
func ReplayLog(ctx context.Context, home string, cfg *config.Config, paths []string, unverified bool) (*impact.ReplayReport, error) {
	files, dirs, err := logFiles(paths)
	if err != nil {
		return nil, err
	}
	o := impact.ReplayOptions{Operator: Operator(home, cfg), Objects: append(dirs, filepath.Join(home, "audit")), Unverified: unverified}
	if cfg.Policy.Path != impact.Recorded {
		if o.Policy, err = Candidate(ctx, home, cfg, cfg.Policy.Path); err != nil {
			return nil, err
		}
	}
	all, err := installed(ctx, home, cfg)
	if err != nil {
		return nil, err
	}
	byID := map[string]*catalog.Tool{}
	for _, t := range all {
		byID[t.Spec.ToolID] = t
	}
	o.Tool = func(digest, id string) (resolver.Tool, bool) {
		t, ok := byID[id]
		if !ok || t.Spec.Digest() != digest {
			return resolver.Tool{}, false
		}
		return policyTool(t), true
	}
	return impact.Replay(ctx, files, o)
}

// ShadowLog counts what the records of an audit log say of their shadow
// policies.
func ShadowLog(ctx context.Context, paths []string, o impact.ShadowOptions) (*impact.ShadowReport, error) {
	files, _, err := logFiles(paths)
	if err != nil {
		return nil, err
	}
	return impact.Shadow(ctx, files, o)
}

// logFiles gives the files that paths name, of a folder those that are logs,
// and the folders that they lie in.
func logFiles(paths []string) (files, dirs []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, fault.New(fault.Usage, "unreadable", "cannot read the audit log %s", p).Because(err)
		}
		if !info.IsDir() {
			files, dirs = append(files, p), append(dirs, filepath.Dir(p))
			continue
		}
		found, err := filepath.Glob(filepath.Join(p, "*.ndjson"))
		if err != nil || len(found) == 0 {
			return nil, nil, fault.New(fault.Usage, "no-log", "the folder %s holds no *.ndjson", p).Because(err)
		}
		files, dirs = append(files, found...), append(dirs, p)
	}
	slices.Sort(dirs)
	return files, slices.Compact(dirs), nil
}
