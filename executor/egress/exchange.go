package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// exchange sends m to t over a connection of its own and gives the response
// with its body unread. done must be called when the body is finished with.
func (c *Client) exchange(ctx context.Context, t *target, m *message, entry *Entry) (resp *http.Response, done func(), f *worker.Failure) {
	guarded, f := c.policy.admit(t)
	if f != nil {
		return nil, nil, f
	}
	addrs, f := c.resolve(ctx, t, guarded)
	if f != nil {
		return nil, nil, f
	}
	tr := &http.Transport{
		Proxy:                  nil, // never from the environment
		DialContext:            c.dialer(addrs, t.port, guarded, func(a netip.Addr) { entry.IP = a.String() }),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.opts.RootCAs},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
	req := (&http.Request{Method: m.method, URL: t.url, Host: t.url.Host, Header: m.header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if m.body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(m.body)), int64(len(m.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.body)), nil }
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		tr.CloseIdleConnections()
		return nil, nil, transportFailure(ctx, err)
	}
	entry.Status = resp.StatusCode
	return resp, func() {
		resp.Body.Close()
		tr.CloseIdleConnections()
	}, nil
}

// readSlice reads the asked part of a body. It holds no more than the cap,
// counted after decompression, and stops reading where the part ends.
func readSlice(ctx context.Context, body io.Reader, req Request, entry *Entry) (part []byte, truncated bool, f *worker.Failure) {
	// limit is the first byte that is not wanted; one more is read to know
	// whether there is one.
	limit := int64(MaxBody)
	if req.MaxLength != nil && *req.MaxLength < MaxBody-req.StartIndex {
		limit = req.StartIndex + *req.MaxLength
	}
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	entry.Bytes = int64(len(data))
	if err != nil {
		return nil, false, transportFailure(ctx, err)
	}
	if int64(len(data)) > limit {
		if limit == MaxBody {
			return nil, false, security(ResponseTooLarge, "the response body is larger than 10 MiB; ask for a part with maxLength")
		}
		data, truncated = data[:limit], true
	}
	return data[min(req.StartIndex, int64(len(data))):], truncated, nil
}

// answer turns a response into plain values.
func answer(resp *http.Response, t *target) *Response {
	out := &Response{Status: resp.StatusCode, URL: t.url.String()}
	_, text, _ := strings.Cut(resp.Status, " ")
	out.StatusText = clean(text)
	for name, values := range resp.Header {
		for _, v := range values {
			out.Headers = append(out.Headers, Header{Name: strings.ToLower(name), Value: clean(v)})
		}
	}
	slices.SortStableFunc(out.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// clean makes text of a server fit into JSON.
func clean(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// transportFailure names what went wrong without the words of the error,
// which may hold addresses and names of this machine.
func transportFailure(ctx context.Context, err error) *worker.Failure {
	if ctx.Err() != nil {
		return ended(ctx, "the request took too long")
	}
	var (
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errUnchecked):
		return security(ResolvedPrivateIP, "the connection was about to leave the checked addresses")
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &unknown):
		return runtimeFailure(TLS, "the secure connection could not be made: the certificate or the protocol is not accepted")
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return runtimeFailure(Timeout, "the server did not answer in time")
	case strings.Contains(err.Error(), "tls: "):
		return runtimeFailure(TLS, "the secure connection could not be made")
	}
	return runtimeFailure(IO, "the exchange with the server failed")
}

// ended says why ctx is over.
func ended(ctx context.Context, message string) *worker.Failure {
	if errors.Is(ctx.Err(), context.Canceled) {
		return runtimeFailure(Interrupted, "the call ended")
	}
	return runtimeFailure(Timeout, message)
}
