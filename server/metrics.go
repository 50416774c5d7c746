package server

import "github.com/prometheus/client_golang/prometheus"

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
