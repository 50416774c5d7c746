package server

import (
	"encoding/json"
	"log"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// health is what /healthz answers. The path has no authentication: it names
// revisions and codes, never a path, a URL or the text of an error.
type health struct {
	Status string  `json:"status"`
	Policy *policy `json:"policy,omitempty"`
	Shadow *policy `json:"shadow"` // null where there is no shadow policy
	Sinks  []sink  `json:"sinks"`  // further places of the audit log

	Checkpoints *checkpoints `json:"checkpoints"` // of the audit log; null where none are made
}

// checkpoints is how the checkpoints of the log do. Calls go on without them,
// so that what keeps them from being made does not make the server unhealthy.
type checkpoints struct {
	Up         bool       `json:"up"`
	Records    int64      `json:"records"` // that the last one counts
	At         *string    `json:"at"`      // when it was made, or null
	AgeSeconds float64    `json:"ageSeconds"`
	Code       fault.Code `json:"code,omitempty"`   // why none can be made
	Reason     string     `json:"reason,omitempty"` // of that code
}

func checkpointsHealth(st *service.CheckpointStatus, now time.Time) *checkpoints {
	if st == nil {
		return nil
	}
	c := &checkpoints{Up: st.Err == nil, Records: st.Size, AgeSeconds: st.Age(now).Seconds()}
	if !st.At.IsZero() {
		at := st.At.UTC().Format(time.RFC3339)
		c.At = &at
	}
	if st.Err != nil {
		c.Code, c.Reason = st.Err.Code, st.Err.Reason
	}
	return c
}

// sink is how one of them does. Only a required one that is not up makes the
// server unhealthy.
type sink struct {
	Name          string  `json:"name"`
	Required      bool    `json:"required"`
	Up            bool    `json:"up"`
	Waiting       int64   `json:"waiting"` // records that it does not have yet
	BehindSeconds float64 `json:"behindSeconds"`
	Lost          int64   `json:"lost"` // records that it will not get
}

func sinksHealth(all []audit.SinkStatus, now time.Time) []sink {
	out := make([]sink, len(all))
	for i, st := range all {
		out[i] = sink{Name: st.Name, Required: st.Required, Up: st.Err == nil, Waiting: st.Waiting, BehindSeconds: st.Behind(now).Seconds(), Lost: st.Lost}
	}
	return out
}

type policy struct {
	Revision    string       `json:"revision"`
	Bundle      string       `json:"bundle"` // revision of the bundle, "" where it is none
	ActivatedAt string       `json:"activatedAt"`
	LastError   *policyError `json:"lastError"` // why a newer one is not in force, or null
}

type policyError struct {
	Code   fault.Code `json:"code"`
	Reason string     `json:"reason"`
	At     string     `json:"at"`
}

func policyHealth(st service.PolicyStatus) *policy {
	p := &policy{Revision: st.Revision, Bundle: st.Bundle, ActivatedAt: st.ActivatedAt.UTC().Format(time.RFC3339)}
	if e := st.LastError; e != nil {
		p.LastError = &policyError{Code: e.Code, Reason: e.Reason, At: st.LastErrorAt.UTC().Format(time.RFC3339)}
	}
	return p
}

// ready is what /readyz answers: whether new calls are wanted. It has no
// authentication either, and names no cause.
type ready struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"` // draining or unavailable
}

// serveReady answers what balances load between processes. It differs from
// /healthz in that it says no before calls are refused.
func (s *Server) serveReady(w http.ResponseWriter, _ *http.Request) {
	answer := ready{Ready: true}
	if s.leaving.Load() {
		answer = ready{Reason: "draining"}
	} else if s.opt.Health != nil && s.opt.Health() != nil {
		answer = ready{Reason: "unavailable"}
	}
	w.Header().Set("Content-Type", "application/json")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// atOnce bounds the readers of /metrics, which has no authentication either.
const atOnce = 4

// metrics answers in the text format of Prometheus, or OpenMetrics where the
// reader prefers it.
func (s *Server) metrics(of prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(of, promhttp.HandlerOpts{
		MaxRequestsInFlight: atOnce, ErrorLog: log.New(s.opt.Logger, "", 0), EnableOpenMetrics: true,
	})
}
