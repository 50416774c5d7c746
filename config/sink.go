package config

// Sink is a further place that gets every record. What is absent is zero, and
// stands for the documented default.
type Sink struct {
	Name           string `json:"name"`
	Type           string `json:"type"` // stdout, file, otlp, syslog, webhook
	Required       bool   `json:"required"`
	URL            string `json:"url"`
	Address        string `json:"address"` // host:port
	Path           string `json:"path"`
	CAFile         string `json:"ca-file"`
	ServerName     string `json:"server-name"`
	CertFile       string `json:"cert-file"`
	KeyFile        string `json:"key-file"`
	HeaderFile     string `json:"header-file"`
	SecretFile     string `json:"secret-file"`
	TimeoutSeconds int64  `json:"timeout-seconds"`
	SpoolBytes     int64  `json:"spool-bytes"`
}
