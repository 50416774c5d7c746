package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Bounds of the jobs of one process.
const (
	maxRunningJobs = 8   // at one time
	maxOwnJobs     = 4   // of one principal, at one time
	maxKeptJobs    = 200 // running ones included
	maxJobResult   = 1 << 20
	keepJob        = time.Hour // after its end
)

// JobState is where a job stands.
type JobState string

// The states. All but JobRunning are final.
const (
	JobRunning   JobState = "running"
	JobSucceeded JobState = "succeeded"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Job is long work as it stands at one moment. It is a plain value.
type Job struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`    // test, publish
	Subject   string          `json:"subject"` // who began it
	State     JobState        `json:"state"`
	Done      int             `json:"done"` // steps of Total
	Total     int             `json:"total"`
	Step      string          `json:"step"`       // what is done now, "" = nothing
	Cancelled bool            `json:"cancelling"` // somebody asked for its end
	CreatedAt time.Time       `json:"createdAt"`
	EndedAt   *time.Time      `json:"endedAt"`
	Result    json.RawMessage `json:"result"` // null until it succeeded
	Error     *fault.Error    `json:"error"`  // null unless it failed or was cancelled
}

// Progress tells how far a job is: steps done, and the one that is done now.
type Progress func(done int, step string)

// Jobs runs long work in the background, a bounded number at a time, and keeps
// the outcome for an hour. Jobs live as long as the process. Safe for
// concurrent use.
type Jobs struct {
	changed func(Job)
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	jobs []*job // oldest first
}

type job struct {
	Job
	owner  decision.Principal
	cancel context.CancelFunc
}

// NewJobs makes an empty set. changed gets each job whenever it changes, in
// order for one job; it must not block and not call Jobs. nil = nobody.
func NewJobs(changed func(Job)) *Jobs {
	if changed == nil {
		changed = func(Job) {}
	}
	j := &Jobs{changed: changed}
	j.ctx, j.stop = context.WithCancel(context.Background())
	return j
}

// Close ends what runs and waits for it.
func (j *Jobs) Close() {
	j.stop()
	j.wg.Wait()
}

// Start begins work of so many steps on behalf of p. The context of work ends
// when the job is cancelled; the context of the request does not reach it.
// What work gives is kept as JSON. Too many jobs are RATE_LIMITED, reason
// jobs.
func (j *Jobs) Start(kind string, p decision.Principal, total int, work func(context.Context, Progress) (any, error)) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	running, own := 0, 0
	for _, x := range j.jobs {
		if x.State == JobRunning {
			running++
			if samePerson(x.owner, p) {
				own++
			}
		}
	}
	switch {
	case j.ctx.Err() != nil:
		return Job{}, fault.New(fault.Interrupted, "stopping", "the server is stopping")
	case running >= maxRunningJobs || own >= maxOwnJobs:
		return Job{}, fault.New(fault.RateLimited, "jobs", "%d jobs run, %d of them yours; wait for one, or cancel it", running, own)
	}
	j.forget()
	ctx, cancel := context.WithCancel(j.ctx)
	x := &job{owner: p, cancel: cancel, Job: Job{
		ID: uuid.Must(uuid.NewV7()).String(), Kind: kind, Subject: p.Subject, State: JobRunning, Total: total,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond), Result: json.RawMessage("null"),
	}}
	j.jobs = append(j.jobs, x)
	j.changed(x.Job)
	j.wg.Go(func() {
		defer cancel()
		value, err := j.guarded(ctx, x, work)
		j.end(ctx, x, value, err)
	})
	return x.Job, nil
}

// guarded runs the work; a panic is its failure.
func (j *Jobs) guarded(ctx context.Context, x *job, work func(context.Context, Progress) (any, error)) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fault.New(fault.Internal, "panic", "an unexpected failure inside toolwarrant; see the log").Because(fmt.Errorf("panic: %v", p))
		}
	}()
	return work(ctx, func(done int, step string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		x.Done, x.Step = min(done, x.Total), step
		j.changed(x.Job)
	})
}

func (j *Jobs) end(ctx context.Context, x *job, value any, err error) {
	raw, encoding := json.Marshal(value)
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now().UTC().Truncate(time.Millisecond)
	x.EndedAt, x.Step = &now, ""
	switch {
	case err != nil && ctx.Err() != nil:
		x.State, x.Error = JobCancelled, fault.New(fault.Interrupted, "cancelled", "the job was cancelled after %d of %d steps", x.Done, x.Total)
	case err != nil:
		x.State, x.Error = JobFailed, fault.From(err)
	case encoding != nil:
		x.State, x.Error = JobFailed, fault.From(encoding)
	case len(raw) > maxJobResult:
		x.State, x.Error = JobFailed, fault.New(fault.ResourceLimit, "output", "the job is done, and its result of %d bytes is more than the %d that are kept", len(raw), maxJobResult)
	default:
		x.State, x.Result, x.Done = JobSucceeded, raw, x.Total
	}
	j.changed(x.Job)
}

// forget drops ended jobs that are old or too many; j.mu is held.
func (j *Jobs) forget() {
	old := time.Now().Add(-keepJob)
	surplus := len(j.jobs) + 1 - maxKeptJobs
	j.jobs = slices.DeleteFunc(j.jobs, func(x *job) bool {
		if x.State == JobRunning || surplus <= 0 && x.EndedAt.After(old) {
			return false
		}
		surplus--
		return true
	})
}

// Get gives a job, or a NOT_FOUND fault.
func (j *Jobs) Get(id string) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := j.find(id)
	if x == nil {
		return Job{}, noJob(id)
	}
	return x.Job, nil
}

// List gives all jobs, newest first.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Job, 0, len(j.jobs))
	for _, x := range slices.Backward(j.jobs) {
		out = append(out, x.Job)
	}
	return out
}

// Owns reports whether p began the job.
func (j *Jobs) Owns(id string, p decision.Principal) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := j.find(id)
	return x != nil && samePerson(x.owner, p)
}

// MayCancel is nil if p may end the job now: whoever began it may, and who
// manages.
func (j *Jobs) MayCancel(id string, p decision.Principal, manages bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mayCancel(id, p, manages)
}

func (j *Jobs) mayCancel(id string, p decision.Principal, manages bool) error {
	x := j.find(id)
	switch {
	case x == nil:
		return noJob(id)
	case !manages && !samePerson(x.owner, p):
		return fault.New(fault.PolicyDenied, "not-yours", "the job was begun by somebody else; an admin can cancel it")
	case x.State != JobRunning:
		return fault.New(fault.Usage, "ended", "the job has ended: %s", x.State)
	}
	return nil
}

// Cancel ends a job: its work is interrupted, and the job has ended when that
// is done.
func (j *Jobs) Cancel(id string, p decision.Principal, manages bool) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.mayCancel(id, p, manages); err != nil {
		return Job{}, err
	}
	x := j.find(id)
	x.Cancelled = true
	x.cancel()
	j.changed(x.Job)
	return x.Job, nil
}

func (j *Jobs) find(id string) *job {
	if at := slices.IndexFunc(j.jobs, func(x *job) bool { return x.ID == id }); at >= 0 {
		return j.jobs[at]
	}
	return nil
}

func noJob(id string) error {
	return fault.New(fault.NotFound, "no-such-job", "there is no job %q; ended ones are kept for an hour, and end with the process", id)
}

// samePerson compares who two principals are, not what they may do.
func samePerson(a, b decision.Principal) bool { return a.Subject == b.Subject && a.Method == b.Method }
