package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/toolwarrant/toolwarrant/audit/sink"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// HTTP is where an HTTP sink sends.
type HTTP struct {
	URL string
	TLS TLS
	// HeaderFile holds further header fields, one "Name: value" in a line,
	// such as a token: readable by its owner alone, read for each request.
	HeaderFile string
	UserAgent  string // "" = toolwarrant
}

// Client posts to one URL. Safe for concurrent use.
type Client struct {
	to     *url.URL
	header string
	agent  string
	http   *http.Client
}

// NewClient checks where to send. Errors are USAGE with reason sink-url,
// sink-tls, or those of the key files.
func NewClient(o HTTP) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, usage("sink-url", "the URL of an audit sink is https://host/..., and cannot be read")
	case u.User != nil || u.Fragment != "":
		return nil, usage("sink-url", "the URL of an audit sink holds a password or a fragment; put credentials into its header-file")
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return nil, usage("sink-url", "an audit sink on another machine (%s) needs https", u.Hostname())
	}
	config, err := o.TLS.Config()
	if err != nil {
		return nil, err
	}
	c := &Client{to: u, header: o.HeaderFile, agent: o.UserAgent}
	if c.agent == "" {
		c.agent = "toolwarrant"
	}
	if _, err := c.fields(); err != nil {
		return nil, err
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // never from the environment
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    5 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxAnswer,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// fields reads the header file.
func (c *Client) fields() (http.Header, error) {
	h := http.Header{}
	if c.header == "" {
		return h, nil
	}
	text, err := keyring.ReadSecretFile(c.header)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, usage("sink-headers", "line %d of the header file %s is no header field; write Name: value", i+1, c.header)
		}
		h.Add(name, value)
	}
	return h, nil
}

// Post sends body and gives the body of a 2xx answer. Every other answer is
// an error; header wins over the header file. No error shows the URL beyond
// its host, nor anything of the header.
func (c *Client) Post(ctx context.Context, body []byte, header http.Header) ([]byte, error) {
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		fields[name] = values
	}
	fields.Set("User-Agent", c.agent)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("no request to %s can be made", c.to.Host)
	}
	// An idle connection that the other side has just closed is no failure of
	// it: an empty list makes the transport try again over a new one, and is
	// not sent. Receivers know lines that come twice.
	fields["Idempotency-Key"] = nil
	req.Header = fields
	resp, err := c.http.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // without the URL
		}
		return nil, fmt.Errorf("%s: %w", c.to.Host, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s: the answer cannot be read: %w", c.to.Host, err)
	}
	if resp.StatusCode/100 == 2 {
		return answer, nil
	}
	err = fmt.Errorf("%s answers with status %d", c.to.Host, resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusRequestEntityTooLarge:
		return nil, &sink.TooLarge{Err: err}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if after := retryAfter(resp.Header.Get("Retry-After"), time.Now()); after > 0 {
			return nil, &sink.Later{After: after, Err: err}
		}
	}
	return nil, err
}

// retryAfter reads seconds or a date; 0 = neither.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 16); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return t.Sub(now)
	}
	return 0
}

// Close gives idle connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }
