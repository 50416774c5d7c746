package impact

import (
	"context"
	"errors"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// Recorded names, in place of a policy, the one of each record's own
// revision: a replay that shows that the log's decisions can be made again.
const Recorded = "recorded"

// Bounds of what a replay remembers, so that its memory does not grow with
// the log.
const (
	maxTools    = 256  // documents that are kept parsed
	maxPolicies = 4    // recorded policies that are kept compiled
	maxListed   = 100  // differences that are listed
	maxRows     = 1000 // tools, rules and gaps that are counted apart
)

// ReplayOptions say what a log is replayed with.
type ReplayOptions struct {
	// Policy decides anew; nil for the policies that the log itself holds.
	Policy *resolver.Resolver
	// Operator is what this installation sets, for recorded policies.
	Operator resolver.Operator
	// Objects are audit folders in which documents and policies are looked for.
	Objects []string
	// Tool gives the tool of a catalog that has a spec digest, for calls whose
	// document never ran and so is in no log. Nil = none.
	Tool func(specDigest, toolID string) (resolver.Tool, bool)
	// Unverified takes a log that does not verify.
	Unverified bool
}

// Replay decides every recorded call of a log again and reports what would
// come out otherwise. The files together are one log. It reads them twice, in
// bounded memory: once to verify, once to decide. A log that does not verify
// is refused with INVALID_INPUT (log-invalid) at its first fault.
func Replay(ctx context.Context, files []string, o ReplayOptions) (*ReplayReport, error) {
	if !o.Unverified {
		if err := whole(ctx, files); err != nil {
			return nil, err
		}
	}
	r, err := newReplay(o)
	if err != nil {
		return nil, err
	}
	if err := r.removed(ctx, files); err != nil {
		return nil, err
	}
	err = audit.Scan(ctx, files, func(l audit.Line) error {
		switch l.Head.Phase {
		case audit.PhaseObject:
			return r.object(l)
		case audit.PhaseClose: // one per call, and complete in itself
			return r.call(ctx, l)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.report.finish(), nil
}

// whole refuses a log in which a line was changed: what it says is no
// evidence.
func whole(ctx context.Context, files []string) error {
	report, err := audit.Verify(ctx, files, audit.VerifyOptions{})
	if err != nil || report.OK {
		return err
	}
	f := report.Findings[0]
	return fault.New(fault.InvalidInput, "log-invalid",
		"the log does not verify (%s: %s); \"toolwarrant audit verify\" lists all of it, and --unverified takes it all the same", f.Kind, f.Message).At(f.File, "", f.Line, 1)
}

type replay struct {
	options  ReplayOptions
	report   *ReplayReport
	tools    *lru.Cache[toolKey, resolver.Tool]
	policies *lru.Cache[string, *resolver.Resolver]
	objects  map[string]string // revision -> digest of its artefact
	unusable map[string]string // revision -> why its policy cannot be asked
}

type toolKey struct{ id, digest, source string }

func newReplay(o ReplayOptions) (*replay, error) {
	r := &replay{options: o, report: newReplayReport(), objects: map[string]string{}, unusable: map[string]string{}}
	var failed [2]error
	r.tools, failed[0] = lru.New[toolKey, resolver.Tool](maxTools)
	r.policies, failed[1] = lru.New[string, *resolver.Resolver](maxPolicies)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fault.New(fault.Internal, "cache", "a cache cannot be made").Because(err)
	}
	r.report.Policy = Policy{Name: Recorded}
	if o.Policy != nil {
		r.report.Policy = Policy{o.Policy.Policy(), o.Policy.Revision()}
	}
	return r, nil
}

// call decides one recorded call again.
func (r *replay) call(ctx context.Context, l audit.Line) error {
	rec, err := l.Decode()
	if err != nil {
		return err
	}
	r.report.Summary.Calls++
	if rec.Decision == nil || rec.Tool == nil || rec.Policy == nil {
		r.report.Summary.Undecided++ // refused before the policy was asked
		return nil
	}
	in, gap := inputOf(rec)
	if gap != nil {
		r.report.unrepeatable(rec, *gap)
		return nil
	}
	tool, gap := r.tool(rec)
	if gap != nil {
		r.report.unrepeatable(rec, *gap)
		return nil
	}
	policy, gap, err := r.policy(ctx, rec.Policy.Revision)
	if err != nil {
		return err
	}
	if gap != nil {
		r.report.unrepeatable(rec, *gap)
		return nil
	}
	req := in.request(tool)
	after, read, err := decideAgain(ctx, policy, req, in.hidden, ownRun(rec))
	if err != nil {
		return about(err, policy, tool)
	}
	if len(read) > 0 {
		r.report.unrepeatable(rec, gapOf("masked", inputPointer+read[0], "a rule reads a value that the log does not have"))
		return nil
	}
	before, now, gap, err := r.sides(ctx, rec, req, in.hidden, after)
	if err != nil {
		return err
	}
	if gap != nil {
		r.report.partial(rec, *gap)
	}
	r.report.compare(rec, before, now, after.rule())
	return nil
}

// policy is what decides a call of a revision.
func (r *replay) policy(ctx context.Context, revision string) (*resolver.Resolver, *Gap, error) {
	if r.options.Policy != nil {
		return r.options.Policy, nil, nil
	}
	return r.recordedPolicy(ctx, revision)
}

// recordedPolicy is the policy of a revision that the log holds.
func (r *replay) recordedPolicy(ctx context.Context, revision string) (*resolver.Resolver, *Gap, error) {
	if p, ok := r.policies.Get(revision); ok {
		return p, nil, nil
	}
	content := r.read(r.objects[revision])
	if content == nil {
		gap := gapOf("policy-missing", "/policy/revision", "the policy of this revision is not in the object store of the log")
		return nil, &gap, nil
	}
	p, err := resolver.FromArtefact(ctx, content, r.options.Operator)
	if err != nil {
		return nil, nil, err
	}
	r.policies.Add(revision, p)
	return p, nil, nil
}

// object notes where a policy is kept.
func (r *replay) object(l audit.Line) error {
	rec, err := l.Decode()
	if err != nil || rec.Kind == nil || *rec.Kind != "policy" || rec.Digest == nil {
		return err
	}
	return r.entered(*rec.Digest)
}

// removed notes where the policies are whose lines were removed.
func (r *replay) removed(ctx context.Context, files []string) error {
	digests, err := audit.RemovedPolicies(ctx, files)
	for _, d := range digests {
		if err == nil {
			err = r.entered(d)
		}
	}
	return err
}

// entered notes the revision of a policy of the object store.
func (r *replay) entered(digest string) error {
	content := r.read(digest)
	if content == nil {
		return nil // its calls are reported as they come
	}
	revision, err := resolver.ArtefactRevision(content)
	if err != nil && r.options.Policy != nil {
		return nil // as if it were missing: another policy decides
	}
	if err != nil {
		return err
	}
	r.objects[revision] = digest
	return nil
}

// read gives an object of the log, nil where it is in none of the folders or
// was altered.
func (r *replay) read(digest string) []byte {
	for _, dir := range r.options.Objects {
		if digest == "" {
			break
		}
		if content, err := audit.ReadObject(dir, digest); err == nil {
			return content
		}
	}
	return nil
}
