package service

import (
	"bytes"
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

// TestOptions say how a Local Pass is run.
type TestOptions struct {
	// Live sends fetches to the network, with the real secrets, also where the
	// tool has fixtures. The decision holds as for any call.
	Live bool
	// Repeat is how many runs in a row have to pass with the same result; less
	// than 2 is one run. The results of a tool whose document says
	// "x-toolwarrant-repeatable": false may differ.
	Repeat int
}

// MaxRepeat bounds TestOptions.Repeat.
const MaxRepeat = 100

// repeatableMember says, with the value false, that a tool gives another
// result each time.
const repeatableMember = "x-toolwarrant-repeatable"

// Test runs the Local Pass of a tool (Safe Tool Spec section 11.3): its code
// with its testValues, in the sandbox and under the decision that it would be
// served with. It changes nothing. The mode says where fetches went. Of several
// runs the result is the first one that failed, or the last one.
func (s *Service) Test(ctx context.Context, p decision.Principal, t *catalog.Tool, o TestOptions) (res executor.Result, mode string) {
	if o.Repeat > MaxRepeat {
		err := fault.New(fault.Usage, "repeat", "a test is repeated at most %d times", MaxRepeat)
		return executor.Result{Outcome: fault.Failed, Err: err}, ModeLive
	}
	res, mode = s.testOnce(ctx, p, t, o.Live)
	first := res.Value
	for n := 2; n <= o.Repeat && res.Outcome == fault.OK; n++ {
		if res, mode = s.testOnce(ctx, p, t, o.Live); res.Outcome == fault.OK && !bytes.Equal(first, res.Value) && repeatable(t.Spec) {
			res.Outcome = fault.Failed
			res.Err = t.Spec.At(fault.New(fault.LocalPassFailed, "not-repeatable",
				"run %d of the test gave another result than the first; choose testValues that always give one result, or say %q: false in the document", n, repeatableMember), "")
		}
	}
	return res, mode
}

func repeatable(s *spec.Spec) bool {
	for _, f := range s.Extra {
		if f.Name == repeatableMember {
			return string(f.Value) != "false"
		}
	}
	return true
}

func (s *Service) testOnce(ctx context.Context, p decision.Principal, t *catalog.Tool, live bool) (res executor.Result, mode string) {
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
	if !live {
		fixtures, ok, err := catalog.Fixtures(t)
		if err != nil {
			return executor.Result{Outcome: fault.Failed, Err: fault.From(err)}, mode
		}
		if ok {
			mode, call.Fixtures, call.FixtureEnv = ModeFixture, recorded{fixtures}, fixtures.Env
		}
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
func (s *Service) Publish(ctx context.Context, p decision.Principal, t *catalog.Tool, justification string, o TestOptions) (res executor.Result, mode string, err error) {
	if len(justification) > maxJustification {
		return res, mode, fault.New(fault.Usage, "justification-too-long", "the justification has %d bytes; at most %d go on record", len(justification), maxJustification)
	}
	rt := spec.ThisRuntime()
	if lacking := t.Spec.CheckRuntime(rt); len(lacking) > 0 {
		return res, mode, lacking[0]
	}
	if s.inCatalog(ctx, t) {
		if err := s.Catalog.NameFree(t); err != nil {
			return res, mode, err
		}
	}
	res, mode = s.Test(ctx, p, t, o)
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
		published = edited
	}
	// What is not on record is not put into service.
	if err := s.event(ctx, "publish", p, map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "specDigest": published.Digest(),
		"mode": mode, "riskLevel": res.Decision.RiskLevel, "justification": justification}); err != nil {
		return res, mode, err
	}
	if err := s.putIntoService(ctx, t, published, mode, rt.ID+"@"+rt.Version); err != nil {
		s.undone(ctx, "publish", p, err)
		return res, mode, err
	}
	return res, mode, nil
}

// putIntoService writes what passed: the document, and that it passed.
func (s *Service) putIntoService(ctx context.Context, t *catalog.Tool, published *spec.Spec, mode, runtime string) error {
	if t.Path != "" {
		if err := s.Catalog.WriteSpec(ctx, t, published); err != nil {
			return err
		}
	}
	if !s.inCatalog(ctx, t) {
		return nil
	}
	return s.Catalog.SetPass(ctx, t.Spec.ToolID, &catalog.Pass{
		PassedDigest: published.Digest(), At: time.Now().UTC(), Mode: mode, Runtime: runtime, PolicyRevision: s.Policy.Revision(),
	})
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
