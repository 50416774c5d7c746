package executor

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/secret"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// run is the state of one request as it goes through the steps. It belongs
// to one goroutine.
type run struct {
	in       Call
	callID   string
	related  string // the call that this one refers to, "" = none
	clock    clock
	decideAt time.Time

	tool         *catalog.Tool
	secrets      []string
	mask         *mask.Set
	args         json.RawMessage
	paramsDigest string
	rekeyed      func(stored string) string
	decision     *decision.Decision
	recorded     *audit.Decision // of that decision
	private      *private        // of that decision
	statics      []worker.Static
	hidden       []decision.Reason // why a tool does not exist for this caller
	shadow       *shadowing        // the question to the shadow; nil = none

	human    audit.HITL
	ask      *InputRequired
	waitsFor string // the out-of-band question that stands between the call and its code, "" = none
	claimed  string // the out-of-band acceptance that this request uses, "" = none
	note     string // for whoever gets the outcome

	retryAfter time.Duration // when another attempt makes sense, 0 = never, or not known
	trace      tracing

	opened   bool
	begun    bool // the runtime was asked to run the code
	reply    *worker.Reply
	value    json.RawMessage
	logs     []worker.LogLine
	commands []audit.Sandbox // that the code ran; nil = it could run none
	usage    *audit.Usage
}

func (e *Engine) receive(in Call) *run {
	return &run{
		in: in, callID: newCallID(), clock: clock{began: time.Now()},
		mask:  mask.New(nil),
		human: audit.HITL{Mode: "DISABLED", Outcome: audit.HITLNotRequired},
	}
}

// newCallID is time-ordered (RFC 9562 version 7), so that logs sort by it.
func newCallID() string { return uuid.Must(uuid.NewV7()).String() }

// ownRun reports whether an author runs an own document: its test, or a
// document that is in no catalog.
func (r *run) ownRun() bool {
	return r.in.Origin == decision.OriginCLITest || r.in.Unpublished != nil
}

// now is the time of the decision, one per evaluation.
func (r *run) now(e *Engine) time.Time {
	r.decideAt = e.Now()
	return r.decideAt
}

func (r *run) resolverTool() resolver.Tool {
	return resolver.Tool{Spec: r.tool.Spec, Source: string(r.tool.Source), ManifestEnv: r.tool.Env}
}

// standing is how the installation asks for the tool, for the policy.
func (r *run) standing() json.RawMessage { return decision.Standing(r.tool.Approval) }

// digestArgs names the validated arguments under the installation's key.
func (r *run) digestArgs(keys keyring.Keyring) error {
	key, err := keys.Current(keyring.ParamsDigest)
	if err != nil {
		return err
	}
	d, err := digest.Keyed(key.ID, key.Bytes, r.args)
	if err != nil {
		return fault.New(fault.InvalidArguments, "not-canonical", "the arguments have no canonical JSON form: %v", err)
	}
	r.paramsDigest = d
	r.rekeyed = func(stored string) string { return rekey(keys, stored, r.args) }
	return nil
}

// rekey is the digest of arguments under the key that a stored digest names:
// one of before the keyring was rotated. It is "" when that key is gone.
func rekey(keys keyring.Keyring, stored string, args json.RawMessage) string {
	parts := strings.Split(stored, ":")
	if len(parts) != 3 {
		return ""
	}
	key, ok, err := keys.Lookup(keyring.ParamsDigest, parts[1])
	if err != nil || !ok {
		return ""
	}
	d, err := digest.Keyed(key.ID, key.Bytes, args)
	if err != nil {
		return ""
	}
	return d
}

// hide adds values to those that are masked at every way out of this call.
func (r *run) hide(secrets []string) {
	r.secrets = append(r.secrets, secrets...)
	r.mask = mask.New(r.secrets)
}

// conceal makes the tool not exist for the caller, and keeps why for the
// record.
func (r *run) conceal(id, why string) error {
	r.hidden = []decision.Reason{{ID: id, Message: why, Path: ""}}
	return fault.New(fault.NotFound, "unknown-tool", "there is no tool %q", r.in.Name)
}

// clock keeps where the time of a call went. Human time counts apart.
type clock struct {
	began                    time.Time
	decide, approve, execute time.Duration
	recording                time.Duration // of the close record; in the metrics alone, since the record was made by then
}

func (c *clock) track(d *time.Duration) func() {
	start := time.Now()
	return func() { *d += time.Since(start) }
}

func (c *clock) record() *audit.Duration {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return &audit.Duration{Decide: ms(c.decide), Approve: ms(c.approve), Execute: ms(c.execute), Total: ms(time.Since(c.began))}
}

// strongEnough says whether an isolation is at least what a policy demands.
// locked is a process that the system itself keeps from the network and the
// files, and whose memory it bounds.
func strongEnough(have worker.Isolation, minimum string) bool {
	rank, known := decision.IsolationMinimum{Minimum: have.Mode}.Rank()
	if !known {
		rank = 0 // an isolation of an unknown kind isolates nothing
	}
	if have.Mode == "process" && have.Seccomp != nil && *have.Seccomp && have.Memory != nil && (*have.Memory == "rlimit" || *have.Memory == "job") &&
		(have.Landlock != nil || slices.Contains(have.Namespaces, "net")) {
		rank, _ = decision.IsolationMinimum{Minimum: "locked"}.Rank()
	}
	want, known := decision.IsolationMinimum{Minimum: minimum}.Rank()
	return known && rank >= want
}

func missingRequirement(tool string, m secret.Missing) error {
	what := "is not set: put it into the secrets file or the environment of the server"
	if m.Reason == "not-granted" {
		what = "is not granted to it: an operator grants it with the config key secrets.grants, as {names: [" + m.Name + "], tools: [" + tool + "]}"
	}
	return fault.New(fault.NotActive, "missing-requirements", "the tool %q needs ${%s}, which %s", tool, m.Name, what)
}

// secretsUnavailable is the refusal of a tool with placeholders while the
// secrets file cannot be read or is open to others. Tools without any run.
func secretsUnavailable(err error) error {
	f := fault.From(err)
	if f.Code == fault.Internal {
		return err
	}
	return fault.New(fault.NotActive, f.Reason, "the tool needs values of the secrets file, and %s", f.Message).Because(err)
}

func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
