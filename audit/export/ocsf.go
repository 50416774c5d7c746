package export

import (
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/fault"
)

// OCSFVersion is the version of the schema that events are of. A call is an
// event of class API Activity.
const OCSFVersion = "1.9.0"

// Numbers of the schema.
const (
	ocsfApplication = 6
	ocsfAPIActivity = 6003
	ocsfOther       = 99
)

type ocsfWriter struct {
	enc     *json.Encoder
	version string
}

func (o *ocsfWriter) Add(r audit.Record, _ []byte) error { return o.enc.Encode(o.event(&r)) }
func (o *ocsfWriter) Close() error                       { return nil }

type object = map[string]any

// frame is what all events have.
func (o *ocsfWriter) frame(activity string) object {
	return object{
		"category_uid": ocsfApplication, "category_name": "Application Activity",
		"class_uid": ocsfAPIActivity, "class_name": "API Activity",
		"activity_id": ocsfOther, "activity_name": activity,
		"type_uid": ocsfAPIActivity*100 + ocsfOther, "type_name": "API Activity: Other",
	}
}

// metadata says which record an event is of.
func (o *ocsfWriter) metadata(r *audit.Record, profiles []string) object {
	product := object{"name": "toolwarrant", "vendor_name": "toolwarrant"}
	if o.version != "" {
		product["version"] = o.version
	}
	m := object{
		"version": OCSFVersion, "product": product, "profiles": profiles, "log_name": "audit", "log_version": r.Schema,
		"original_event_uid": r.Sum, "original_time": r.Time, "sequence": r.Seq,
	}
	if r.CallID != "" {
		m["uid"] = r.CallID
	}
	if r.RelatedCallID != nil {
		m["correlation_uid"] = *r.RelatedCallID
	}
	return m
}

// event maps a close. What the schema has no place for is in unmapped, under
// the names of the record.
func (o *ocsfWriter) event(r *audit.Record) object {
	profiles := []string{"security_control"}
	e := o.frame("Call")
	e["message"], e["actor"], e["api"], e["src_endpoint"], e["unmapped"] = ended(r), actor(r), api(r), source(r), unmapped(r)
	at := milliseconds(r.Time)
	e["time"] = at
	if d := r.Duration; d != nil {
		e["duration"], e["start_time"], e["end_time"] = int64(d.Total), at-int64(d.Total), at
	}
	// A call that is allowed and fails is a failure; one that is denied was
	// blocked as well.
	e["status_id"], e["status"], e["severity_id"], e["severity"] = 1, "Success", 1, "Informational"
	e["action_id"], e["action"], e["disposition_id"], e["disposition"] = 1, "Allowed", 1, "Allowed"
	if text(r.Outcome) != string(fault.OK) {
		e["status_id"], e["status"], e["severity_id"], e["severity"] = 2, "Failure", 2, "Low"
	}
	if text(r.Outcome) == string(fault.Denied) {
		e["action_id"], e["action"], e["disposition_id"], e["disposition"] = 2, "Denied", 2, "Blocked"
	}
	if r.Error != nil {
		e["status_code"], e["status_detail"] = string(r.Error.Code), r.Error.Message
	}
	if r.Policy != nil {
		e["policy"] = object{"uid": r.Policy.Revision, "name": "toolwarrant"}
	}
	if r.TraceID != nil {
		profiles = append(profiles, "trace")
		e["trace"] = object{"uid": *r.TraceID}
	}
	if list := resources(r); len(list) > 0 {
		e["resources"] = list
	}
	e["metadata"] = o.metadata(r, profiles)
	return e
}

func actor(r *audit.Record) object {
	p := r.Principal
	if p == nil {
		return object{"user": object{"name": "unknown", "type_id": 0, "type": "Unknown"}}
	}
	groups := []object{}
	for _, g := range p.Groups {
		groups = append(groups, object{"name": g})
	}
	user := object{"name": p.Subject, "uid": p.Subject}
	if len(groups) > 0 {
		user["groups"] = groups
	}
	return object{"user": user}
}

func api(r *audit.Record) object {
	a := object{"operation": "unknown", "service": object{"name": "toolwarrant"}, "request": object{"uid": r.CallID}}
	if t := r.Tool; t != nil {
		a["operation"] = t.Name
		if t.SpecDigest != "" {
			a["version"] = t.SpecDigest
		}
	}
	if r.Error != nil {
		a["response"] = object{"error": string(r.Error.Code), "error_message": r.Error.Message}
	}
	return a
}

// source is where the call came from. A record has no address of the caller.
func source(r *audit.Record) object {
	name := string(r.Origin)
	if r.Principal != nil && r.Principal.ClientID != "" {
		name = r.Principal.ClientID
	}
	return object{"name": name, "svc_name": string(r.Origin)}
}

func resources(r *audit.Record) []object {
	var out []object
	if r.Usage == nil {
		return nil
	}
	for _, e := range r.Usage.Egress {
		out = append(out, object{"type": "host", "name": e.Host, "data": object{"ip": e.IP, "status": e.Status, "bytes": e.Bytes}})
	}
	for _, f := range r.Usage.FS {
		out = append(out, object{"type": "file", "name": f.Path, "data": object{"op": f.Op, "bytes": f.Bytes}})
	}
	return out
}

func unmapped(r *audit.Record) object {
	signals, reasons := rules(r)
	u := object{
		"origin": r.Origin, "riskLevel": r.RiskLevel, "riskSignals": signals, "reasons": reasons, "humanInTheLoop": r.HITL, "params": r.Params,
		"paramsDigest": r.ParamsDigest, "result": r.Result, "isolation": r.Isolation, "testMode": r.TestMode, "outcome": r.Outcome, "sum": r.Sum, "prev": r.Prev, "writer": r.Writer,
	}
	if r.Params == nil {
		u["params"] = nil
	}
	if t := r.Tool; t != nil {
		u["toolId"], u["category"] = t.ToolID, t.Category
	}
	if r.Principal != nil {
		u["method"], u["clientId"] = r.Principal.Method, r.Principal.ClientID
	}
	if r.Error != nil {
		u["reason"] = r.Error.Reason
	}
	return u
}
