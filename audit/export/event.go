package export

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
)

// OCSFEvents writes events of a log, which are administrative acts and what
// became of the log itself, as OCSF events of the same class as calls: the
// operation is the kind. It is not safe for concurrent use. version is that
// of toolwarrant, "" = not said.
func OCSFEvents(w io.Writer, version string) func(audit.Record) error {
	o := &ocsfWriter{enc: encoder(w), version: version}
	return func(r audit.Record) error { return o.enc.Encode(o.act(&r)) }
}

// act maps an event. A kind that ends in refuse says that something was not
// put into force.
func (o *ocsfWriter) act(r *audit.Record) object {
	kind := text(r.Kind)
	e := o.frame("Act")
	e["message"], e["actor"], e["src_endpoint"] = kind, actor(r), object{"name": "toolwarrant", "svc_name": r.Writer}
	e["api"] = object{"operation": kind, "service": object{"name": "toolwarrant"}}
	e["status_id"], e["status"], e["severity_id"], e["severity"] = 1, "Success", 1, "Informational"
	e["action_id"], e["action"], e["disposition_id"], e["disposition"] = 1, "Allowed", 1, "Allowed"
	if strings.HasSuffix(kind, ".refuse") {
		e["status_id"], e["status"], e["severity_id"], e["severity"] = 2, "Failure", 2, "Low"
		e["action_id"], e["action"], e["disposition_id"], e["disposition"] = 2, "Denied", 2, "Blocked"
	}
	if r.Principal == nil {
		e["actor"] = object{"user": object{"name": "toolwarrant", "type_id": 3, "type": "System"}}
	}
	e["time"] = milliseconds(r.Time)
	e["metadata"] = o.metadata(r, []string{"security_control"})
	detail := r.Detail
	if detail == nil {
		detail = json.RawMessage("null")
	}
	e["unmapped"] = object{"kind": kind, "detail": detail, "sum": r.Sum, "prev": r.Prev, "writer": r.Writer}
	return e
}

func milliseconds(stamp string) int64 {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
