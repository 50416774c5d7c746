package server

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

var (
	metricRequests = prometheus.NewDesc("toolwarrant_mcp_requests_in_flight", "Messages over HTTP that are being served, those that wait for a human included.", nil, nil)
	metricBodies   = prometheus.NewDesc("toolwarrant_mcp_body_bytes", "Bytes that the bodies of those messages take.", nil, nil)
	metricListens  = prometheus.NewDesc("toolwarrant_mcp_listens", "Requests over HTTP that wait for news.", nil, nil)
	metricSessions = prometheus.NewDesc("toolwarrant_mcp_sessions", "Open sessions of the protocol versions before 2026-07-28.", nil, nil)
	metricEvicted  = prometheus.NewDesc("toolwarrant_mcp_sessions_evicted_total", "Sessions that were ended to make room for others.", nil, nil)
	metricShed     = prometheus.NewDesc("toolwarrant_mcp_shed_total", "Messages over HTTP that were answered 429, by what there was too much of.", []string{"reason"}, nil)
	metricReady    = prometheus.NewDesc("toolwarrant_ready", "1 while new calls are wanted, 0 once the process is to end.", nil, nil)
)

// Collector gives the numbers of the door to Prometheus. It may be registered
// once; safe for concurrent use.
func (s *Server) Collector() prometheus.Collector { return collector{s} }

type collector struct{ s *Server }

// Describe implements prometheus.Collector.
func (collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{metricRequests, metricBodies, metricListens, metricSessions, metricEvicted, metricShed, metricReady} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	st := c.s.Load()
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(metricRequests, float64(st.Requests))
	gauge(metricBodies, float64(st.BodyBytes))
	gauge(metricListens, float64(st.Listens))
	gauge(metricSessions, float64(st.Sessions))
	ready := 1.0
	if c.s.leaving.Load() {
		ready = 0
	}
	gauge(metricReady, ready)
	out <- prometheus.MustNewConstMetric(metricEvicted, prometheus.CounterValue, float64(st.Evicted))
	for reason, n := range st.Shed {
		out <- prometheus.MustNewConstMetric(metricShed, prometheus.CounterValue, float64(n), reason)
	}
}

// serveMetrics answers /metrics. Whoever calls tools may not know of each: the
// numbers that name tools are for those who look after the installation.
func (s *Server) serveMetrics() http.Handler {
	whole, nameless := s.metrics(s.opt.Metrics), s.metrics(unnamed{s.opt.Metrics})
	if s.opt.OpenMetrics {
		return whole
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := s.authenticate(w, r)
		switch {
		case !ok:
		case s.opt.ToolNames != nil && s.opt.ToolNames(who):
			whole.ServeHTTP(w, r)
		default:
			nameless.ServeHTTP(w, r)
		}
	})
}

// unnamed leaves out the metrics that have the label tool.
type unnamed struct{ prometheus.Gatherer }

// Gather implements prometheus.Gatherer.
func (u unnamed) Gather() ([]*dto.MetricFamily, error) {
	all, err := u.Gatherer.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
		return slices.ContainsFunc(f.Metric, func(m *dto.Metric) bool {
			return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == "tool" })
		})
	}), err
}
