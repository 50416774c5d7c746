package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Modes of a Local Pass.
const (
	ModeLive    = "live"    // against the real network
	ModeFixture = "fixture" // fetches answered from the tool's fixtures.json
)

// Test runs the Local Pass of a tool (Safe Tool Spec section 11.3): its code
// with its testValues, in the sandbox and under the decision that it would be
// served with. It changes nothing. The mode says where fetches went.
func (s *Service) Test(ctx context.Context, p decision.Principal, t *catalog.Tool) (res executor.Result, mode string) {
	mode = ModeLive
	if wrong := t.Spec.CheckCode(); len(wrong) > 0 {
		return executor.Result{Outcome: fault.Failed, Err: wrong[0]}, mode
	}
	call := executor.Call{Principal: p, Origin: decision.OriginCLITest, Name: t.Spec.Name, Unpublished: t}
	args, ferr := t.Spec.TestArgs()
	if ferr != nil {
		return executor.Result{Outcome: fault.Failed, Err: ferr}, mode
	}
	call.Args = args
	fixtures, ok, err := catalog.Fixtures(t)
	if err != nil {
		return executor.Result{Outcome: fault.Failed, Err: fault.From(err)}, mode
	}
	if ok {
		mode, call.Fixtures, call.FixtureEnv = ModeFixture, recorded{fixtures}, fixtures.Env
	}
	if usesFiles(t.Spec) {
		dir, ferr := testWorkspace(t)
		if ferr != nil {
			return executor.Result{Outcome: fault.Failed, Err: ferr}, mode
		}
		defer os.RemoveAll(dir)
		call.Workspace = dir
	}
	return s.Engine.Call(ctx, call), mode
}

func usesFiles(s *spec.Spec) bool {
	is := func(p *bool) bool { return p != nil && *p }
	return s.Overrides != nil && (is(s.Overrides.FileRead) || is(s.Overrides.FileWrite))
}

// testWorkspace makes a folder that holds what the tool's fixtures/ does. A
// Local Pass begins there, so that it ends alike wherever it runs, and
// neither sees nor changes the files of anybody.
func testWorkspace(t *catalog.Tool) (string, *fault.Error) {
	dir, err := os.MkdirTemp("", "toolwarrant-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // the gate takes real paths
	}
	if seed := catalog.Workspace(t); err == nil && seed != nil {
		err = os.CopyFS(dir, seed)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", fault.New(fault.Usage, "test-workspace", "the workspace of the test of %q cannot be made: %v", t.Spec.Name, err)
	}
	return dir, nil
}

// Publish earns a tool its Local Pass and, if it passes, makes exactly what
// passed active: the document of a user tool gets draft false and its
// toolSafety, and the state file the digest. A tool that does not pass stays
// as it is, and the error is LOCAL_PASS_FAILED with the cause in its message;
// one that the policy does not let this caller publish with this justification
// stays so too (POLICY_DENIED). The justification goes on record.
func (s *Service) Publish(ctx context.Context, p decision.Principal, t *catalog.Tool, justification string) (res executor.Result, mode string, err error) {
	if len(justification) > maxJustification {
		return res, mode, fault.New(fault.Usage, "justification-too-long", "the justification has %d bytes; at most %d go on record", len(justification), maxJustification)
	}
	rt := spec.ThisRuntime()
	if lacking := t.Spec.CheckRuntime(rt); len(lacking) > 0 {
		return res, mode, lacking[0]
	}
	res, mode = s.Test(ctx, p, t)
	if res.Outcome != fault.OK {
		cause := res.Err
		if cause == nil {
			cause = fault.New(fault.Internal, "unexpected", "the test ended without an outcome")
		}
		return res, mode, localPassFailed(t, cause)
	}
	if err := s.mayPublish(ctx, p, t, justification); err != nil {
		return res, mode, err
	}
	published := t.Spec
	if t.Path != "" {
		draft, now := false, time.Now().UnixMilli()
		edited, ferr := t.Spec.Edit(spec.Patch{Draft: &draft, ToolSafety: &res.Decision.ToolSafety, UpdateTimestamp: &now})
		if ferr != nil {
			return res, mode, ferr
		}
		if edited.Digest() != t.Spec.Digest() {
			return res, mode, fault.New(fault.Internal, "digest-moved", "publishing would change what was tested; nothing was written")
		}
		if err := s.Catalog.WriteSpec(ctx, t, edited); err != nil {
			return res, mode, err
		}
		published = edited
	}
	if s.inCatalog(ctx, t) {
		pass := catalog.Pass{
			PassedDigest: published.Digest(), At: time.Now().UTC(), Mode: mode, Runtime: rt.ID + "@" + rt.Version,
			PolicyRevision: s.Policy.Revision(), Exposure: catalog.ExposureExposed,
		}
		if err := s.Catalog.SetPass(ctx, t.Spec.ToolID, &pass); err != nil {
			return res, mode, err
		}
	}
	return res, mode, s.event(ctx, "publish", p, map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "specDigest": published.Digest(),
		"mode": mode, "riskLevel": res.Decision.RiskLevel, "justification": justification})
}

// maxJustification bounds what an author may say, in bytes.
const maxJustification = 2000

// mayPublish asks the policy.
func (s *Service) mayPublish(ctx context.Context, p decision.Principal, t *catalog.Tool, justification string) error {
	refusals, err := s.Policy.PublishRefusals(ctx, resolver.Request{
		Tool:      policyTool(t),
		Principal: p, Origin: decision.OriginCLITest,
	}, justification)
	if err != nil || len(refusals) == 0 {
		return err
	}
	var all []string
	for _, r := range refusals {
		all = append(all, r.Message)
	}
	return fault.New(fault.PolicyDenied, refusals[0].ID, "%q passed its test and stays a draft: %s", t.Spec.Name, strings.Join(all, "; ")).At(t.Path, "", 0, 0)
}

// Draft takes a tool out of service.
func (s *Service) Draft(ctx context.Context, p decision.Principal, t *catalog.Tool) error {
	if err := s.Catalog.SetPass(ctx, t.Spec.ToolID, nil); err != nil {
		return err
	}
	return s.event(ctx, "draft", p, map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name})
}

// inCatalog reports whether t is a catalog entry, not a document that the
// author named by its path.
func (s *Service) inCatalog(ctx context.Context, t *catalog.Tool) bool {
	found, err := s.Catalog.Lookup(ctx, t.Spec.ToolID)
	return err == nil && found.Path == t.Path
}

func localPassFailed(t *catalog.Tool, cause *fault.Error) error {
	var keep *fault.Error
	if !errors.As(error(cause), &keep) {
		keep = cause
	}
	return fault.New(fault.LocalPassFailed, slug(string(keep.Code)),
		"%q did not pass its own test and stays a draft: %s: %s", t.Spec.Name, keep.Code, keep.Message).
		At(t.Path, keep.Pointer, keep.Line, keep.Column).Because(cause)
}

// system is who acts when nobody in particular does.
var system = decision.Principal{Subject: "system", Method: "none", Groups: []string{}, Scopes: []string{}}

func (s *Service) event(ctx context.Context, kind string, p decision.Principal, detail map[string]any) error {
	return s.Audit.Event(ctx, audit.Event{
		Kind:      kind,
		Principal: &audit.Principal{Subject: p.Subject, Method: p.Method, ClientID: p.ClientID, Groups: p.Groups},
		Detail:    detail,
	}, nil)
}
