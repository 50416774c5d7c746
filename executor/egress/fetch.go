package egress

import (
	"context"
	"net/http"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// Fetch sends req and follows its redirects. Every hop passes the whole gate
// again. A failure has one of the reasons of this package; it never shows an
// address of this machine or the text of a system error. Fetch returns soon
// after ctx ends and after 30 seconds at the latest.
func (c *Client) Fetch(ctx context.Context, req Request) (*Response, *worker.Failure) {
	ctx, cancel := context.WithTimeout(ctx, c.requestTimeout)
	defer cancel()
	if f := c.policy.usable(); f != nil {
		c.record(Entry{})
		return nil, f
	}
	if req.StartIndex < 0 || req.MaxLength != nil && *req.MaxLength < 0 {
		return nil, invalid(InvalidRange, "maxLength and startIndex must not be negative")
	}
	if req.StartIndex > MaxBody {
		return nil, invalid(InvalidRange, "startIndex is beyond the largest body")
	}
	m, f := newMessage(req, c.opts.UserAgent)
	if f != nil {
		return nil, f
	}
	t, f := parseTarget(req.URL)
	if f != nil {
		c.record(Entry{}) // refused before there was a host
		return nil, f
	}
	for hops := 0; ; hops++ {
		resp, next, f := c.hop(ctx, t, m, req)
		if f != nil || next == nil {
			return resp, f
		}
		if hops == MaxRedirects {
			return nil, security(TooManyRedirects, "more than 5 redirects")
		}
		t = next
	}
}

// hop makes one exchange, which enters the ledger whatever becomes of it.
// next is where a redirect leads; m is changed for it.
func (c *Client) hop(ctx context.Context, t *target, m *message, req Request) (out *Response, next *target, f *worker.Failure) {
	entry := Entry{Host: t.label()}
	defer func() { c.record(entry) }()
	resp, done, f := c.exchange(ctx, t, m, &entry)
	if f != nil {
		return nil, nil, f
	}
	defer done()
	if location := resp.Header.Get("Location"); isRedirect(resp.StatusCode) && location != "" {
		next, f := redirectTarget(t, location)
		if f != nil {
			return nil, nil, f
		}
		m.redirected(resp.StatusCode, next.origin() == t.origin())
		return nil, next, nil
	}
	out = answer(resp, t)
	body, truncated, f := readSlice(ctx, resp.Body, req, &entry)
	if f != nil {
		return nil, nil, f
	}
	out.Body, out.Truncated = body, truncated
	if truncated {
		at := req.StartIndex + int64(len(body))
		out.NextStartIndex = &at
	}
	return out, nil, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func redirectTarget(from *target, location string) (*target, *worker.Failure) {
	if len(location) > maxURL {
		return nil, invalid(InvalidURL, "the server redirects to a URL that is too long")
	}
	u, err := from.url.Parse(location)
	if err != nil {
		return nil, invalid(InvalidURL, "the server redirects to a URL that cannot be read")
	}
	next, f := checkURL(u)
	if f == nil {
		f = sameReading(next, location, from)
	}
	if f != nil {
		return nil, f
	}
	if from.url.Scheme == "https" && next.url.Scheme != "https" {
		return nil, security(InsecureRedirect, "redirect from https to http: "+next.host)
	}
	return next, nil
}

// Admit checks a request as Fetch does before it resolves the host, and sends
// nothing. A refusal enters the ledger.
func (c *Client) Admit(req Request) *worker.Failure {
	if f := c.policy.usable(); f != nil {
		c.record(Entry{})
		return f
	}
	if _, f := newMessage(req, c.opts.UserAgent); f != nil {
		return f
	}
	t, f := parseTarget(req.URL)
	if f != nil {
		c.record(Entry{})
		return f
	}
	if _, f := c.policy.admit(t); f != nil {
		c.record(Entry{Host: t.label()})
		return f
	}
	return nil
}

// Cut gives the response with the part of its body that req asks for.
func (r *Response) Cut(req Request) *Response {
	out := *r
	start := min(max(req.StartIndex, 0), int64(len(r.Body)))
	out.Body = r.Body[start:]
	out.Truncated, out.NextStartIndex = false, nil
	if req.MaxLength != nil && max(*req.MaxLength, 0) < int64(len(out.Body)) {
		out.Body = out.Body[:max(*req.MaxLength, 0)]
		next := start + int64(len(out.Body))
		out.Truncated, out.NextStartIndex = true, &next
	}
	return &out
}
