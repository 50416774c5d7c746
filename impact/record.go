package impact

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// inputPointer is where a record keeps what the caller's side of a decision
// was.
const inputPointer = "/decision/input"

// Gap says why a call cannot be decided again the way it was.
type Gap struct {
	Reason  string `json:"reason"`  // masked, input-missing, spec-missing, policy-missing
	Pointer string `json:"pointer"` // into the record
	Message string `json:"message"`
	Calls   int    `json:"calls"`
}

func gapOf(reason, pointer, message string) Gap {
	return Gap{Reason: reason, Pointer: pointer, Message: message}
}

// input is decision.input of a record.
type input struct {
	Principal decision.Principal `json:"principal"`
	Call      struct {
		Origin decision.Origin `json:"origin"`
		Args   json.RawMessage `json:"args"`
	} `json:"call"`
	Now       time.Time       `json:"now"`
	Approvals json.RawMessage `json:"approvals"`

	hidden []string // pointers into it of what is not as it was
}

// inputOf reads the input of a record, or says why there is none.
func inputOf(rec audit.Record) (*input, *Gap) {
	gap := gapOf("input-missing", inputPointer, "the record does not hold the input of the decision")
	var in input
	d := rec.Decision
	if len(d.Input) == 0 || json.Unmarshal(d.Input, &in) != nil || in.Principal.Subject == "" || in.Now.IsZero() {
		return nil, &gap
	}
	for _, p := range d.MaskedPointers {
		rest, ours := strings.CutPrefix(p, inputPointer)
		switch {
		case strings.HasPrefix(p, "("): // "(n more)": they could be anywhere
			in.hidden = append(in.hidden, "/call/args", "/principal/clientId")
		case !ours:
		case rest == "":
			return nil, &gap
		case strings.Contains(rest, "***"): // the name of a member is masked too
			in.hidden = append(in.hidden, rest[:strings.LastIndexByte(rest[:strings.Index(rest, "***")], '/')])
		default:
			in.hidden = append(in.hidden, rest)
		}
	}
	var args any
	if json.Unmarshal(in.Call.Args, &args) == nil {
		in.hidden = append(in.hidden, cuts(args, "/call/args")...)
	}
	return &in, nil
}

// cuts finds what the log cut short.
func cuts(v any, at string) []string {
	const mark = " more bytes]"
	var out []string
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(v, mark) {
			out = append(out, at)
		}
	case []any:
		for i, e := range v {
			out = append(out, cuts(e, at+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		for name, e := range v {
			if strings.HasSuffix(name, mark) {
				out = append(out, at)
			}
			out = append(out, cuts(e, at+"/"+strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))...)
		}
	}
	return out
}

func (in *input) request(tool resolver.Tool) resolver.Request {
	return resolver.Request{
		Tool: tool, Principal: in.Principal, Origin: in.Call.Origin, Args: in.Call.Args,
		Approvals: in.Approvals, Now: in.Now,
	}
}

// tool gives the document that a record names: from the object store, where
// everything that ran is, else from the catalog.
func (r *replay) tool(rec audit.Record) (resolver.Tool, *Gap) {
	source := ""
	if rec.ToolSafety != nil {
		source = rec.ToolSafety.Category.Source
	}
	key := toolKey{rec.Tool.ToolID, rec.Tool.SpecDigest, source}
	if t, ok := r.tools.Get(key); ok {
		return t, nil
	}
	t, ok := resolver.Tool{}, false
	if r.options.Tool != nil {
		t, ok = r.options.Tool(key.digest, key.id)
	}
	if !ok {
		s, faults := spec.Parse("object "+key.digest, r.read(key.digest))
		if len(faults) > 0 || s.Digest() != key.digest {
			gap := gapOf("spec-missing", "/tool/specDigest", "the document is neither in the object store of the log nor in the catalog")
			return t, &gap
		}
		s.ToolID = key.id
		t = resolver.Tool{Spec: s}
		if source == "builtin" && rec.Effective != nil {
			t.ManifestEnv = rec.Effective.Env // what the manifest granted, as far as the policy let it
		}
	}
	t.Source = source
	r.tools.Add(key, t)
	return t, nil
}
