package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/server/auth"
	"github.com/toolwarrant/toolwarrant/service"
)

// people are the senders of the tests, by the value of their header.
var people = map[string]decision.Principal{
	"nobody": {Subject: "nobody", Method: "api-key"},
	"vera":   {Subject: "vera", Method: "api-key"},
	"ann":    {Subject: "ann", Method: "oidc", Groups: []string{"authors"}},
	"abe":    {Subject: "abe", Method: "oidc", Groups: []string{"authors"}},
	"pia":    {Subject: "pia", Method: "mtls", Scopes: []string{"approve"}},
	"root":   {Subject: "root", Method: "api-key"},
}

type header struct{}

func (header) Authenticate(r *http.Request) (decision.Principal, error) {
	name := r.Header.Get("Authorization")
	p, ok := people[name]
	switch {
	case name == "down":
		return decision.Principal{}, errors.New("the provider is down: secret detail")
	case name == "empty":
		return decision.Principal{}, nil
	case !ok:
		return decision.Principal{}, &auth.Refusal{Reason: "missing", Status: http.StatusUnauthorized, Challenge: "Bearer"}
	}
	if p.Groups == nil {
		p.Groups = []string{}
	}
	if p.Scopes == nil {
		p.Scopes = []string{}
	}
	return p, nil
}

var adminConfig = config.Roles{
	Viewer: config.RoleOf{Subjects: []string{"vera"}}, Author: config.RoleOf{Groups: []string{"authors"}},
	Approver: config.RoleOf{Scopes: []string{"approve"}}, Admin: config.RoleOf{Subjects: []string{"root"}},
}

// installation opens a service in a new home.
func installation(t testing.TB, change ...func(*config.Config)) *service.Service {
	t.Helper()
	cfg, err := config.Load("", nil, map[string]any{"runtime.isolation": "in-process", "audit.index": "false", "catalog.preset": "everything"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Admin.Roles = adminConfig
	for _, c := range change {
		c(cfg)
	}
	s, err := service.Open(context.Background(), service.Options{Home: t.TempDir(), Config: cfg, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// rig is an admin interface of which every answer is held against its
// description.
type rig struct {
	t       *testing.T
	svc     *service.Service
	srv     *Server
	url     string
	router  routers.Router
	refused []error
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	g := &rig{t: t, svc: installation(t)}
	g.start(change...)
	return g
}

func (g *rig) start(change ...func(*Options)) {
	g.t.Helper()
	var mu sync.Mutex
	opt := Options{Service: g.svc, Auth: header{}, Logger: zerolog.Nop(), Refused: func(_ *http.Request, err error) {
		mu.Lock()
		defer mu.Unlock()
		g.refused = append(g.refused, err)
	}}
	for _, c := range change {
		c(&opt)
	}
	g.srv = New(opt)
	g.t.Cleanup(g.srv.Close)
	hs := httptest.NewServer(g.srv.Handler())
	g.t.Cleanup(func() { g.srv.bus.close(); hs.CloseClientConnections(); hs.Close() })
	g.url = hs.URL
	doc := openAPI(g.t)
	doc.Servers = openapi3.Servers{{URL: hs.URL + base}}
	var err error
	if g.router, err = gorillamux.NewRouter(doc); err != nil {
		g.t.Fatal(err)
	}
}

func openAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// str follows names and gives the text there.
func (r reply) str(path ...string) string {
	var v any = r.body
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

func (r reply) items() []map[string]any {
	list, _ := r.body["items"].([]any)
	out := make([]map[string]any, len(list))
	for i, x := range list {
		out[i], _ = x.(map[string]any)
	}
	return out
}

// do makes a request as who. body is JSON text or a value; headers are pairs.
func (g *rig) do(who, method, path string, body any, headers ...string) reply {
	g.t.Helper()
	var text string
	switch b := body.(type) {
	case nil:
	case string:
		text = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			g.t.Fatal(err)
		}
		text = string(raw)
	}
	req, err := http.NewRequest(method, g.url+base+path, strings.NewReader(text))
	if err != nil {
		g.t.Fatal(err)
	}
	if who != "" {
		req.Header.Set("Authorization", who)
	}
	if method == http.MethodPost || method == http.MethodPut {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	out := reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &out.body)
	g.described(req, res, raw)
	return out
}

// described holds an answer against openapi.yaml.
func (g *rig) described(req *http.Request, res *http.Response, raw []byte) {
	g.t.Helper()
	route, params, err := g.router.FindRoute(req)
	if err != nil {
		return // a path or a method that there is not
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 res.StatusCode, Header: res.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	in.SetBodyBytes(bytes.Clone(raw))
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") || len(raw) == 0 {
		if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
			g.t.Errorf("%s %s: the answer %d is not as described: %v\n%.400s", req.Method, req.URL.Path, res.StatusCode, err, raw)
		}
	}
}

// want makes a request and checks how it is answered.
func (g *rig) want(status int, who, method, path string, body any, headers ...string) reply {
	g.t.Helper()
	r := g.do(who, method, path, body, headers...)
	if r.status != status {
		g.t.Fatalf("%s %s as %s: status %d, want %d\n%.600s", method, path, who, r.status, status, r.raw)
	}
	return r
}

// failed checks code and reason of a refusal.
func (g *rig) failed(r reply, code, reason string) {
	g.t.Helper()
	if r.str("error", "code") != code || reason != "" && r.str("error", "reason") != reason {
		g.t.Errorf("answered %.400s, want %s (%s)", r.raw, code, reason)
	}
}

// records gives the lines of the log, of a phase.
func (g *rig) records(phase audit.Phase) (out []audit.Record) {
	g.t.Helper()
	err := audit.Scan(context.Background(), []string{filepath.Join(g.svc.Home, "audit", audit.FileName)}, func(l audit.Line) error {
		if l.Head.Phase != phase {
			return nil
		}
		r, err := l.Decode()
		out = append(out, r)
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// events gives the administrative acts of the log, as kind or kind/operation.
func (g *rig) events() (out []string) {
	g.t.Helper()
	for _, r := range g.records(audit.PhaseEvent) {
		var d struct{ Operation string }
		_ = json.Unmarshal(r.Detail, &d)
		name := *r.Kind
		if d.Operation != "" {
			name += "/" + d.Operation
		}
		if r.Principal != nil && r.Principal.Subject != "system" {
			out = append(out, r.Principal.Subject+" "+name)
		}
	}
	return out
}

// until waits for something to be so.
func (g *rig) until(what string, ok func() bool) {
	g.t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	g.t.Fatalf("waited in vain for %s", what)
}

// job waits for the end of a job.
func (g *rig) job(r reply) reply {
	g.t.Helper()
	id := r.str("id")
	var last reply
	g.until("the end of the job", func() bool {
		last = g.want(200, "vera", "GET", "/jobs/"+id, nil)
		return last.str("state") != "running"
	})
	return last
}

const shout = `{"document": {"name": "shout", "description": "Shouts a text. Returns a string.", "codeType": "Javascript",
	"params": [{"name": "text", "type": "STRING", "required": true, "testValue": "hey"}], "code": "return text.toUpperCase() + '!';"}}`
