package service

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/toolwarrant/toolwarrant/impact"
)

// Metrics are the numbers of an installation, for Prometheus. Labels are
// words of ours, revisions and reasons: never a name that a caller or an
// author chose.
type Metrics struct {
	prometheus.Gatherer
	registry *prometheus.Registry
	service  *Service
	calls    *callMetrics

	decisions   *prometheus.CounterVec
	shadows     *prometheus.CounterVec
	activations *prometheus.CounterVec
}

var (
	policyInfo = prometheus.NewDesc("toolwarrant_policy_info",
		"1 for the policy in force, and for the shadow policy.", []string{"role", "revision", "bundle"}, nil)
	policyActivated = prometheus.NewDesc("toolwarrant_policy_activated_timestamp_seconds",
		"When that policy was activated, in seconds since 1970.", []string{"role"}, nil)
	policyError = prometheus.NewDesc("toolwarrant_policy_last_error_info",
		"1 while a newer policy is refused or cannot be fetched, with code and reason.", []string{"role", "code", "reason"}, nil)
	sinkUp = prometheus.NewDesc("toolwarrant_audit_sink_up",
		"1 while the audit sink takes records, as far as is known, 0 while it does not.", []string{"sink", "required"}, nil)
	sinkWaiting = prometheus.NewDesc("toolwarrant_audit_sink_waiting_records",
		"Records in the spool of this process that the audit sink does not have yet.", []string{"sink"}, nil)
	sinkBehind = prometheus.NewDesc("toolwarrant_audit_sink_behind_seconds",
		"Age of the oldest of them, in seconds; 0 where none waits.", []string{"sink"}, nil)
	sinkLost = prometheus.NewDesc("toolwarrant_audit_sink_lost_records_total",
		"Records that the audit sink will not get; the log has them.", []string{"sink"}, nil)
	checkpointUp = prometheus.NewDesc("toolwarrant_audit_checkpoint_up",
		"1 while checkpoints of the audit log are made, 0 while none can be.", nil, nil)
	checkpointRecords = prometheus.NewDesc("toolwarrant_audit_checkpoint_records",
		"Records that the last checkpoint counts.", nil, nil)
	checkpointMade = prometheus.NewDesc("toolwarrant_audit_checkpoint_timestamp_seconds",
		"When the last checkpoint was made, in seconds since 1970.", nil, nil)
	checkpointAge = prometheus.NewDesc("toolwarrant_audit_checkpoint_age_seconds",
		"Age of the last checkpoint, in seconds.", nil, nil)
)

func newMetrics(s *Service) *Metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "toolwarrant", Name: name, Help: help}, labels)
	}
	registry := prometheus.NewRegistry()
	m := &Metrics{
		Gatherer: registry, registry: registry, service: s, calls: newCallMetrics(registry),
		decisions:   counters("policy_decisions_total", "Answers of the policy in force to calls, by what they are.", "outcome"),
		shadows:     counters("shadow_decisions_total", "What the shadow policy would have made of calls; same is no difference, failed is no answer.", "result"),
		activations: counters("policy_activations_total", "Policies that were activated or refused, the first one included.", "role", "result"),
	}
	// What has not happened is 0, and not absent.
	for _, outcome := range []string{"allowed", "denied", "rejected", "hidden", "failed"} {
		m.decisions.WithLabelValues(outcome)
	}
	registry.MustRegister(m.decisions, m.shadows, m.activations, m,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Decided implements executor.Observer.
func (m *Metrics) Decided(outcome string) { m.decisions.WithLabelValues(outcome).Inc() }

// Shadowed implements executor.Observer.
func (m *Metrics) Shadowed(result string) { m.shadows.WithLabelValues(result).Inc() }

func (m *Metrics) activated(r role) {
	m.expect(r)
	m.activations.WithLabelValues(string(r), "activated").Inc()
}

func (m *Metrics) refused(r role) {
	m.expect(r)
	m.activations.WithLabelValues(string(r), "refused").Inc()
}

// expect makes the counters of a policy that there is.
func (m *Metrics) expect(r role) {
	for _, result := range []string{"activated", "refused"} {
		m.activations.WithLabelValues(string(r), result)
	}
	if r != shadowed {
		return
	}
	for _, kind := range []impact.Kind{impact.Same, impact.NewlyDenied, impact.NewlyAllowed, impact.ApprovalChanged, impact.OtherChange, "failed"} {
		m.shadows.WithLabelValues(string(kind))
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{policyInfo, policyActivated, policyError, sinkUp, sinkWaiting, sinkBehind, sinkLost, checkpointUp, checkpointRecords, checkpointMade, checkpointAge} {
		out <- d
	}
	for _, d := range callDescs {
		out <- d
	}
}

// Collect implements prometheus.Collector: what is so at this moment.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.collectCalls(out)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		for i := range labels { // the revision of a bundle is whatever its maker wrote
			labels[i] = strings.ToValidUTF8(labels[i], "?")
		}
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, p := range m.service.origins() {
		st := p.status()
		gauge(policyInfo, 1, string(p.role), st.Revision, st.Bundle)
		gauge(policyActivated, float64(st.ActivatedAt.UnixMilli())/1000, string(p.role))
		if e := st.LastError; e != nil {
			gauge(policyError, 1, string(p.role), string(e.Code), e.Reason)
		}
	}
	if m.service.Audit == nil {
		return
	}
	up := func(failed bool) float64 {
		if failed {
			return 0
		}
		return 1
	}
	if st := m.service.Checkpoints(); st != nil {
		gauge(checkpointUp, up(st.Err != nil))
		if !st.At.IsZero() {
			gauge(checkpointRecords, float64(st.Size))
			gauge(checkpointMade, float64(st.At.UnixMilli())/1000)
			gauge(checkpointAge, st.Age(time.Now()).Seconds())
		}
	}
	for _, st := range m.service.Sinks() {
		gauge(sinkUp, up(st.Err != nil), st.Name, strconv.FormatBool(st.Required))
		gauge(sinkWaiting, float64(st.Waiting), st.Name)
		gauge(sinkBehind, st.Behind(time.Now()).Seconds(), st.Name)
		out <- prometheus.MustNewConstMetric(sinkLost, prometheus.CounterValue, float64(st.Lost), st.Name)
	}
}
