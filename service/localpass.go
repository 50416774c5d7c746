package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// TestRun is how a Local Pass ended: as its first call did that did not end as
// it had to, else as the last call with the testValues.
type TestRun struct {
	executor.Result
	Mode  string // where fetches went: ModeLive or ModeFixture
	Cases int    // of the author's cases.json, that ended as they say
}

// Passed reports whether the tool passed.
func (r TestRun) Passed() bool { return r.Outcome == fault.OK }

func (r TestRun) failed(f *fault.Error) TestRun {
	r.Outcome, r.Err = fault.Failed, f
	return r
}

// Test runs the Local Pass of a tool (Safe Tool Spec section 11.3): its code
// with its testValues and then, where it is a folder that has them, the cases of
// its author, in the sandbox and under the decision that it would be served
// with. It changes nothing.
func (s *Service) Test(ctx context.Context, p decision.Principal, t *catalog.Tool, o TestOptions) TestRun {
	run := TestRun{Mode: ModeLive}
	if o.Repeat > MaxRepeat {
		return run.failed(fault.New(fault.Usage, "repeat", "a test is repeated at most %d times", MaxRepeat))
	}
	if len(t.Findings) > 0 {
		return run.failed(t.Findings[0])
	}
	if wrong := catalog.NameServable(t.Spec); wrong != nil { // of no catalog, which would have found it
		return run.failed(wrong)
	}
	if wrong := t.Spec.CheckCode(); len(wrong) > 0 {
		return run.failed(wrong[0])
	}
	args, ferr := t.Spec.TestArgs()
	if ferr != nil {
		return run.failed(ferr)
	}
	cases, err := catalog.Cases(t)
	if err != nil {
		return run.failed(fault.From(err))
	}
	call := executor.Call{Principal: p, Origin: decision.OriginCLITest, Name: t.Spec.Name, Args: args, Own: executor.Own{Unpublished: t}}
	fixtures, ok, err := catalog.Fixtures(t)
	switch {
	case err != nil:
		return run.failed(fault.From(err))
	case ok && o.Live:
		cases = nil // they say what the fixtures answer, and not what the world does
	case ok:
		run.Mode, call.Fixtures, call.FixtureEnv = ModeFixture, recorded{fixtures}, fixtures.Env
	}
	call.TestMode = run.Mode
	run.Result = s.testCall(ctx, call, nil)
	first := run.Value
	for n := 2; n <= o.Repeat && run.Passed(); n++ {
		if run.Result = s.testCall(ctx, call, nil); run.Passed() && !bytes.Equal(first, run.Value) && repeatable(t.Spec) {
			return run.failed(t.Spec.At(fault.New(fault.LocalPassFailed, "not-repeatable",
				"run %d of the test gave another result than the first; choose testValues that always give one result, or say %q: false in the document", n, repeatableMember), ""))
		}
	}
	if !run.Passed() {
		return run
	}
	for i, c := range cases {
		call.Args = args
		if c.Args != nil {
			call.Args = json.RawMessage(c.Args)
		}
		res := s.testCall(ctx, call, c.Files)
		var code, message string
		if res.Err != nil {
			code, message = string(res.Err.Code), res.Err.Message
		}
		if wrong := c.Mismatch(res.Value, res.Outcome != fault.OK, code, message); wrong != "" {
			run.Result = res
			return run.failed(fault.New(fault.LocalPassFailed, "case", "case %d (%s): %s", i+1, c.Name(), wrong).
				At(catalog.CasesFile(t), fmt.Sprintf("/cases/%d", i), 0, 0))
		}
		run.Cases++
	}
	return run
}

func repeatable(s *spec.Spec) bool {
	for _, f := range s.Extra {
		if f.Name == repeatableMember {
			return string(f.Value) != "false"
		}
	}
	return true
}

// testCall makes one call of a Local Pass. files are beside those of the tool's
// folder fixtures/.
func (s *Service) testCall(ctx context.Context, call executor.Call, files map[string]string) executor.Result {
	if t := call.Unpublished; usesFiles(t.Spec) {
		dir, ferr := testWorkspace(t, files)
		if ferr != nil {
			return executor.Result{Outcome: fault.Failed, Err: ferr}
		}
		defer os.RemoveAll(dir)
		call.Workspace = dir
	}
	return s.Engine.Call(ctx, call)
}

func usesFiles(s *spec.Spec) bool {
	is := func(p *bool) bool { return p != nil && *p }
	return s.Overrides != nil && (is(s.Overrides.FileRead) || is(s.Overrides.FileWrite))
}

// testWorkspace makes a folder that holds what the tool's fixtures/ does. A
// Local Pass begins there, so that it ends alike wherever it runs, and
// neither sees nor changes the files of anybody.
func testWorkspace(t *catalog.Tool, files map[string]string) (string, *fault.Error) {
	dir, err := os.MkdirTemp("", "toolwarrant-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // the gate takes real paths
	}
	if seed := catalog.Workspace(t); err == nil && seed != nil {
		err = os.CopyFS(dir, seed)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
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
//
// One that asks humans less than the tool of this toolId did when it was last
// in service needs PublishLowering.
func (s *Service) Publish(ctx context.Context, p decision.Principal, t *catalog.Tool, justification string, o TestOptions) (run TestRun, err error) {
	return s.PublishLowering(ctx, p, t, justification, Consent{}, o)
}

// PublishLowering is Publish with what a human says for asking less, which goes
// on record as the event approval.lower.
func (s *Service) PublishLowering(ctx context.Context, p decision.Principal, t *catalog.Tool, justification string, by Consent, o TestOptions) (run TestRun, err error) {
	if len(justification) > maxJustification {
		return run, fault.New(fault.Usage, "justification-too-long", "the justification has %d bytes; at most %d go on record", len(justification), maxJustification)
	}
	if wrong := catalog.NameServable(t.Spec); wrong != nil {
		return run, wrong
	}
	rt := spec.ThisRuntime()
	if lacking := t.Spec.CheckRuntime(rt); len(lacking) > 0 {
		return run, lacking[0]
	}
	if s.inCatalog(ctx, t) {
		if err := s.Catalog.NameFree(t); err != nil {
			return run, err
		}
	}
	run = s.Test(ctx, p, t, o)
	if !run.Passed() {
		cause := run.Err
		if cause == nil {
			cause = fault.New(fault.Internal, "unexpected", "the test ended without an outcome")
		}
		return run, localPassFailed(t, cause)
	}
	if err := s.mayPublish(ctx, p, t, justification); err != nil {
		return run, err
	}
	plan, err := s.PlanPublish(ctx, p, t)
	if err != nil {
		return run, err
	}
	if err := plan.Covered(by); err != nil {
		return run, err
	}
	published := t.Spec
	if t.Path != "" {
		draft, now := false, time.Now().UnixMilli()
		edited, ferr := t.Spec.Edit(spec.Patch{Draft: &draft, ToolSafety: &run.Decision.ToolSafety, UpdateTimestamp: &now})
		if ferr != nil {
			return run, ferr
		}
		if edited.Digest() != t.Spec.Digest() {
			return run, fault.New(fault.Internal, "digest-moved", "publishing would change what was tested; nothing was written")
		}
		published = edited
	}
	// What is not on record is not put into service.
	if plan.Lowering {
		if err := s.event(ctx, "approval.lower", p, plan.detail(strings.TrimSpace(by.Reason))); err != nil {
			return run, err
		}
	}
	if err := s.event(ctx, "publish", p, map[string]any{"toolId": t.Spec.ToolID, "name": t.Spec.Name, "specDigest": published.Digest(),
		"mode": run.Mode, "riskLevel": run.Decision.RiskLevel, "justification": justification}); err != nil {
		return run, err
	}
	if err := s.putIntoService(ctx, t, published, run.Mode, rt.ID+"@"+rt.Version); err != nil {
		s.undone(ctx, "publish", p, err)
		if plan.Lowering {
			s.undone(ctx, "approval.lower", p, err)
		}
		return run, err
	}
	if t.Source == catalog.SourceBuiltin || !s.inCatalog(ctx, t) {
		return run, nil
	}
	return run, s.asked(ctx, plan)
}

// putIntoService writes what passed: the document, and that it passed. What
// cannot be written whole is taken back.
func (s *Service) putIntoService(ctx context.Context, t *catalog.Tool, published *spec.Spec, mode, runtime string) error {
	pass := &catalog.Pass{
		PassedDigest: published.Digest(), At: time.Now().UTC(), Mode: mode, Runtime: runtime, PolicyRevision: s.Policy.Revision(),
	}
	if t.Path == "" {
		return s.Catalog.SetPass(ctx, t.Spec.ToolID, pass)
	}
	known := s.inCatalog(ctx, t)
	if err := s.Catalog.WriteSpec(ctx, t, published); err != nil {
		return err
	}
	written := *t
	written.Spec = published
	err := s.Catalog.PassBeside(ctx, &written, pass)
	if err == nil && known {
		if err = s.Catalog.SetPass(ctx, t.Spec.ToolID, pass); err != nil {
			err = errors.Join(err, s.Catalog.PassBeside(ctx, &written, nil))
		}
	}
	if err == nil {
		return nil
	}
	if back := s.Catalog.WriteSpec(ctx, &written, t.Spec); back != nil {
		return errors.Join(err, back)
	}
	return err
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
	if t.State == catalog.StateActive && t.Source != catalog.SourceBuiltin {
		mode := documentMode(t.Spec)
		if err := s.asked(ctx, ApprovalChange{ToolID: t.Spec.ToolID, Old: mode, New: mode}); err != nil {
			return err
		}
	}
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
