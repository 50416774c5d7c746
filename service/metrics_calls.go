package service

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolwarrant/toolwarrant/approval"
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/process"
	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	// maxToolLabels bounds the tools that have time series of their own, the
	// first ones that were called; the rest is "other".
	maxToolLabels = 200
	// maxReasonLabels does the same for reasons.
	maxReasonLabels = 64
	// pendingFor is how long the number of questions is remembered: counting
	// reads the folder of all of them.
	pendingFor = 2 * time.Second
)

var callSeconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// callMetrics count settled calls and what guards them.
type callMetrics struct {
	calls    *prometheus.CounterVec
	codes    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	blocks   *prometheus.CounterVec
	auth     *prometheus.CounterVec
	tools    labels
	reasons  labels
	methods  labels
	refusals labels

	mu      sync.Mutex
	counted time.Time
	pending int
}

func newCallMetrics(registry *prometheus.Registry) *callMetrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "toolwarrant", Name: name, Help: help}, labels)
		registry.MustRegister(c)
		return c
	}
	m := &callMetrics{
		calls:  counters("calls_total", "Settled calls. Of tools beyond the first 200 that were called, tool is other; of a name that no tool has, it is empty.", "tool", "outcome", "level"),
		codes:  counters("call_errors_total", "Settled calls that did not end in OK, by the code of their error.", "code"),
		blocks: counters("guard_blocks_total", "Calls that a gate of the sandbox ended, by its reason.", "reason"),
		auth:   counters("auth_failures_total", "Requests whose sender could not be authenticated.", "method", "reason"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "toolwarrant", Name: "call_duration_seconds", Buckets: callSeconds,
			Help: "Time of a settled call: to decide, to approve (a human's time), to execute, to record, and in total.",
		}, []string{"step"}),
		tools: labels{most: maxToolLabels}, reasons: labels{most: maxReasonLabels}, methods: labels{most: 8}, refusals: labels{most: maxReasonLabels},
	}
	registry.MustRegister(m.seconds)
	for _, step := range []string{"decide", "approve", "execute", "record", "total"} {
		m.seconds.WithLabelValues(step)
	}
	for _, code := range []fault.Code{fault.AuditUnavailable, fault.PolicyUnavailable, fault.PolicyDenied, fault.RateLimited, fault.Internal} {
		m.codes.WithLabelValues(string(code))
	}
	return m
}

// Ended implements executor.Meter.
func (m *Metrics) Ended(c executor.Ended) {
	m.calls.calls.WithLabelValues(m.calls.tools.of(c.Tool), string(c.Outcome), c.RiskLevel).Inc()
	if c.Code != "" {
		m.calls.codes.WithLabelValues(string(c.Code)).Inc()
	}
	if c.Code == fault.Security {
		m.calls.blocks.WithLabelValues(m.calls.reasons.of(word(c.Reason))).Inc()
	}
	observe := func(step string, took time.Duration, ok bool) {
		if ok {
			m.calls.seconds.WithLabelValues(step).Observe(took.Seconds())
		}
	}
	observe("decide", c.Decide, c.Decided)
	observe("approve", c.Approve, c.Asked)
	observe("execute", c.Execute, c.Ran)
	observe("record", c.Record, true)
	observe("total", c.Total, true)
}

// AuthFailed counts a request whose sender could not be authenticated: how it
// tried, and why it failed. Both are words of this program.
func (m *Metrics) AuthFailed(method, reason string) {
	m.calls.auth.WithLabelValues(m.calls.methods.of(word(method)), m.calls.refusals.of(word(reason))).Inc()
}

// Register adds what a part above this package counts. It panics when two
// count under one name, a defect of the program.
func (m *Metrics) Register(c prometheus.Collector) { m.registry.MustRegister(c) }

// labels bound how many values a label gets.
type labels struct {
	most int
	mu   sync.Mutex
	seen map[string]bool
}

func (l *labels) of(v string) string {
	if v == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[v] {
		return v
	}
	if len(l.seen) >= l.most {
		return "other"
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[v] = true
	return v
}

var wordForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// word keeps what has the form of a reason of this program. The code of a tool
// can choose one; what it chooses freely is other.
func word(s string) string {
	if wordForm.MatchString(s) {
		return s
	}
	return "other"
}

var (
	pendingApprovals = prometheus.NewDesc("toolwarrant_approvals_pending", "Questions that wait for a human.", nil, nil)
	workersNow       = prometheus.NewDesc("toolwarrant_workers", "Worker processes by what they do, and the most that there may be.", []string{"state"}, nil)
	workersAwaited   = prometheus.NewDesc("toolwarrant_workers_waiting_calls", "Calls that wait for a free worker.", nil, nil)
	callsRunning     = prometheus.NewDesc("toolwarrant_calls_running", "Calls that are being worked on, those that wait for a human not included.", nil, nil)
	callsWaiting     = prometheus.NewDesc("toolwarrant_calls_waiting", "Calls that wait for their turn.", nil, nil)
	callsShed        = prometheus.NewDesc("toolwarrant_calls_shed_total", "Calls that were refused because the process had too much to do.", nil, nil)
	auditUp          = prometheus.NewDesc("toolwarrant_audit_up", "1 while calls can be recorded, 0 while they are refused for want of a record.", nil, nil)
)

var callDescs = []*prometheus.Desc{pendingApprovals, workersNow, workersAwaited, callsRunning, callsWaiting, callsShed, auditUp}

// collectCalls gives what is so at this moment.
func (m *Metrics) collectCalls(out chan<- prometheus.Metric) {
	s := m.service
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if n, ok := m.waiting(); ok {
		gauge(pendingApprovals, float64(n))
	}
	if pool, ok := s.runtime.(interface{ Stats() process.Stats }); ok {
		st := pool.Stats()
		for state, n := range map[string]int{"busy": st.Busy, "idle": st.Idle, "starting": st.Starting, "most": st.Most} {
			gauge(workersNow, float64(n), state)
		}
		gauge(workersAwaited, float64(st.Waiting))
	}
	if s.Engine != nil && s.Engine.Admission != nil {
		st := s.Engine.Admission.Stats()
		gauge(callsRunning, float64(st.Running))
		gauge(callsWaiting, float64(st.Waiting))
		out <- prometheus.MustNewConstMetric(callsShed, prometheus.CounterValue, float64(st.Shed))
	}
	if s.Audit != nil {
		up := 0.0
		if s.Health() == nil {
			up = 1
		}
		gauge(auditUp, up)
	}
}

// waiting counts the questions that wait for a human; ok is false when the
// store cannot be read.
func (m *Metrics) waiting() (n int, ok bool) {
	c := m.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.service.Approvals == nil {
		return 0, false
	}
	if time.Since(c.counted) < pendingFor {
		return c.pending, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	all, err := m.service.Approvals.List(ctx)
	if err != nil {
		return 0, false
	}
	now := time.Now()
	c.pending, c.counted = 0, now
	for _, p := range all {
		if p.State == approval.StatePending && now.Before(p.Binding.ExpiresAt) {
			c.pending++
		}
	}
	return c.pending, true
}
