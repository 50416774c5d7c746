package service

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

var ann, abe = decision.Principal{Subject: "ann", Method: "oidc"}, decision.Principal{Subject: "abe", Method: "oidc"}

// ended waits for the end of a job.
func ended(t *testing.T, jobs *Jobs, id string) Job {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if j, err := jobs.Get(id); err != nil || j.State != JobRunning {
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
	}
	t.Fatal("the job did not end")
	return Job{}
}

func TestJobsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		work   func(context.Context, Progress) (any, error)
		state  JobState
		result string
		code   fault.Code
		reason string
	}{
		"fine":      {func(_ context.Context, p Progress) (any, error) { p(1, "x"); return map[string]int{"n": 1}, nil }, JobSucceeded, `{"n":1}`, "", ""},
		"nothing":   {func(context.Context, Progress) (any, error) { return nil, nil }, JobSucceeded, `null`, "", ""},
		"fails":     {func(context.Context, Progress) (any, error) { return nil, fault.New(fault.NotFound, "x", "no") }, JobFailed, `null`, fault.NotFound, "x"},
		"errs":      {func(context.Context, Progress) (any, error) { return nil, errors.New("inner detail") }, JobFailed, `null`, fault.Internal, "unexpected"},
		"panics":    {func(context.Context, Progress) (any, error) { panic("inner detail") }, JobFailed, `null`, fault.Internal, "panic"},
		"too much":  {func(context.Context, Progress) (any, error) { return strings.Repeat("x", maxJobResult), nil }, JobFailed, `null`, fault.ResourceLimit, "output"},
		"no JSON":   {func(context.Context, Progress) (any, error) { return func() {}, nil }, JobFailed, `null`, fault.Internal, "unexpected"},
		"overtells": {func(_ context.Context, p Progress) (any, error) { p(99, "x"); return 1, nil }, JobSucceeded, `1`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := NewJobs(nil)
			defer jobs.Close()
			j, err := jobs.Start("test", ann, 3, c.work)
			if err != nil {
				t.Fatal(err)
			}
			j = ended(t, jobs, j.ID)
			if j.State != c.state || string(j.Result) != c.result || (j.Error == nil) != (c.code == "") || j.Done > j.Total || j.EndedAt == nil {
				t.Errorf("ended %+v", j)
			}
			if j.Error != nil && (j.Error.Code != c.code || j.Error.Reason != c.reason || strings.Contains(j.Error.Error(), "inner detail")) {
				t.Errorf("failed with %v", j.Error)
			}
			if raw, err := json.Marshal(j); err != nil || !json.Valid(raw) {
				t.Error(err)
			}
		})
	}
}

func TestJobsCancel(t *testing.T) {
	jobs := NewJobs(nil)
	waits := func(ctx context.Context, _ Progress) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	j, err := jobs.Start("test", ann, 1, waits)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id      string
		who     decision.Principal
		manages bool
		reason  string
	}{
		"somebody else":               {j.ID, abe, false, "not-yours"},
		"of that name, not that sort": {j.ID, decision.Principal{Subject: "ann", Method: "mtls"}, false, "not-yours"},
		"no such":                     {"nosuch", ann, true, "no-such-job"},
	} {
		if _, err := jobs.Cancel(c.id, c.who, c.manages); fault.From(err) == nil || fault.From(err).Reason != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	if j, err := jobs.Cancel(j.ID, abe, true); err != nil || !j.Cancelled {
		t.Errorf("%+v %v", j, err)
	}
	if j = ended(t, jobs, j.ID); j.State != JobCancelled || j.Error.Code != fault.Interrupted {
		t.Errorf("ended %+v", j)
	}
	// Work that is done all the same is done.
	release := make(chan struct{})
	late, err := jobs.Start("test", ann, 1, func(context.Context, Progress) (any, error) { <-release; return "done", nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jobs.Cancel(late.ID, ann, false); err != nil {
		t.Fatal(err)
	}
	close(release)
	if late = ended(t, jobs, late.ID); late.State != JobSucceeded {
		t.Errorf("ended %+v", late)
	}
	running, err := jobs.Start("test", ann, 1, waits)
	if err != nil {
		t.Fatal(err)
	}
	jobs.Close()
	if got, err := jobs.Get(running.ID); err != nil || got.State != JobCancelled {
		t.Errorf("after the end: %+v %v", got, err)
	}
	if _, err := jobs.Start("test", ann, 1, waits); err == nil {
		t.Error("a job begins after the end")
	}
}

// TestJobsAreBounded: only so many run, for one and for all, and only so many
// are kept.
func TestJobsAreBounded(t *testing.T) {
	var mu sync.Mutex
	told := map[string]JobState{}
	jobs := NewJobs(func(j Job) {
		mu.Lock()
		defer mu.Unlock()
		if told[j.ID] != "" && told[j.ID] != JobRunning {
			t.Errorf("told of %s after its end", j.ID)
		}
		told[j.ID] = j.State
	})
	defer jobs.Close()
	waits := func(ctx context.Context, _ Progress) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	begin := func(who decision.Principal, want int) {
		t.Helper()
		n := 0
		for range maxRunningJobs + 1 {
			if _, err := jobs.Start("test", who, 1, waits); err == nil {
				n++
			} else if f := fault.From(err); f.Code != fault.RateLimited {
				t.Fatal(err)
			}
		}
		if n != want {
			t.Errorf("%d jobs of %s began, want %d", n, who.Subject, want)
		}
	}
	begin(ann, maxOwnJobs)
	begin(abe, maxRunningJobs-maxOwnJobs)
	begin(decision.Principal{Subject: "pia", Method: "oidc"}, 0)
	for _, j := range jobs.List() {
		if _, err := jobs.Cancel(j.ID, ann, true); err != nil {
			t.Fatal(err)
		}
		ended(t, jobs, j.ID)
	}
	for range maxKeptJobs + 20 {
		j, err := jobs.Start("test", ann, 1, func(context.Context, Progress) (any, error) { return 1, nil })
		if err != nil {
			t.Fatal(err)
		}
		ended(t, jobs, j.ID)
	}
	if n := len(jobs.List()); n != maxKeptJobs {
		t.Errorf("%d jobs are kept", n)
	}
}
