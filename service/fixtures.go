package service

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
)

// recorded answers the fetches of a Local Pass from a tool's fixtures.
type recorded struct{ catalog.Recording }

// Fetch implements broker.Fetcher. A request that was not recorded fails: a
// test that quietly went elsewhere would prove nothing.
func (r recorded) Fetch(_ context.Context, req egress.Request) (*egress.Response, *worker.Failure) {
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	header := func(name string) string {
		for _, h := range req.Headers {
			if strings.EqualFold(h.Name, name) {
				return h.Value
			}
		}
		return ""
	}
	f, ok := r.Match(catalog.Sent{Method: method, URL: req.URL, Header: header, Body: req.Body})
	if !ok {
		return nil, &worker.Failure{
			Code: string(fault.HelperRuntime), Reason: "no-fixture", Helper: "fetch",
			Message: "[fetch] the tool's fixtures.json has no answer for " + method + " " + req.URL + " with these headers and this body",
		}
	}
	resp := &egress.Response{Status: f.Response.Status, StatusText: http.StatusText(f.Response.Status), URL: req.URL, Body: f.Response.Bytes()}
	for _, name := range slices.Sorted(maps.Keys(f.Response.Headers)) {
		resp.Headers = append(resp.Headers, egress.Header{Name: name, Value: f.Response.Headers[name]})
	}
	return resp, nil
}
