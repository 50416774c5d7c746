//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// tally is what one client saw.
type tally struct {
	plain, asked                  []time.Duration
	shed, stopped, unsent, errors int
	first                         string
}

// soaker is one client, of one protocol era.
type soaker struct {
	number  int
	url     string
	http    *http.Client
	legacy  bool
	session string
	id      int
}

var (
	errShed    = errors.New("shed")
	errStopped = errors.New("the server is stopping")
	errUnsent  = errors.New("the connection ended")
)

func (c *soaker) run(end time.Time, share int, gone bool) (t tally) {
	for n := 0; time.Now().Before(end); n++ {
		began := time.Now()
		needs := (n*7+c.number)%100 < share
		err := c.call(needs)
		took := time.Since(began)
		switch {
		case err == nil && needs:
			t.asked = append(t.asked, took)
		case err == nil:
			t.plain = append(t.plain, took)
		case errors.Is(err, errShed):
			t.shed++
			time.Sleep(100 * time.Millisecond)
		case errors.Is(err, errStopped), errors.Is(err, errUnsent):
			if errors.Is(err, errStopped) {
				t.stopped++
			} else {
				t.unsent++
			}
			if gone {
				return t
			}
			c.session = ""
			time.Sleep(100 * time.Millisecond)
		default:
			if t.errors++; t.first == "" {
				t.first = err.Error()
			}
			c.session = ""
		}
	}
	if c.session != "" {
		if req, err := http.NewRequest(http.MethodDelete, c.url, nil); err == nil {
			req.Header.Set("Mcp-Session-Id", c.session)
			if res, err := c.http.Do(req); err == nil {
				res.Body.Close()
			}
		}
	}
	return t
}

// call makes one call to its end, and checks the answer.
func (c *soaker) call(needs bool) error {
	c.id++
	tool, want := "base64", "aGVsbG8gd29ybGQ="
	args := `{"text":"hello world"}`
	if needs {
		path := fmt.Sprintf("soak-%d-%d.txt", c.number, c.id%8)
		tool, want = "writeTextFile", path
		args = fmt.Sprintf(`{"path":%q,"content":"call %d"}`, path, c.id)
	}
	var answer result
	var err error
	if c.legacy {
		answer, err = c.callLegacy(tool, args)
	} else {
		answer, err = c.callModern(tool, args)
	}
	if err != nil {
		return err
	}
	if e := answer.Structured.Error; e != nil {
		if e.Code == "RATE_LIMITED" {
			return errShed
		}
		return fmt.Errorf("%s: %s (%s): %s", tool, e.Code, e.Reason, e.Message)
	}
	if answer.IsError || len(answer.Content) != 1 || !strings.Contains(answer.Content[0].Text, want) {
		return fmt.Errorf("%s: another answer than expected: %+v", tool, answer)
	}
	return nil
}

type result struct {
	ResultType   string
	RequestState string
	IsError      bool
	Content      []struct{ Text string }
	Structured   struct {
		Error *struct{ Code, Reason, Message string }
	} `json:"structuredContent"`
}

type message struct {
	ID     json.RawMessage
	Method string
	Result *result
	Error  *struct {
		Code    int
		Message string
	}
}

const soakMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"}}`

func (c *soaker) callModern(tool, args string) (result, error) {
	more := ""
	for range 2 {
		c.id++
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,%s}}`, c.id, tool, args, more, soakMeta)
		m, err := c.post(body, tool, nil)
		if err != nil {
			return result{}, err
		}
		if m.Result.ResultType != "input_required" {
			return *m.Result, nil
		}
		state, err := json.Marshal(m.Result.RequestState)
		if err != nil {
			return result{}, err
		}
		more = fmt.Sprintf(`,"requestState":%s,"inputResponses":{"approval":{"action":"accept","content":{}}}`, state)
	}
	return result{}, errors.New("asked again after an answer")
}

func (c *soaker) callLegacy(tool, args string) (result, error) {
	if c.session == "" {
		if err := c.begin(); err != nil {
			return result{}, err
		}
	}
	accept := func(id json.RawMessage) error {
		_, err := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`, id), "")
		return err
	}
	m, err := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, args), "", accept)
	if err != nil {
		return result{}, err
	}
	return *m.Result, nil
}

func (c *soaker) begin() error {
	res, err := c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"soak","version":"1"}}}`, "")
	if err != nil {
		return err
	}
	if c.session = res.Header.Get("Mcp-Session-Id"); c.session == "" {
		return errors.New("initialize gave no session")
	}
	_, err = c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	return err
}

// send posts a message and reads its whole answer.
func (c *soaker) send(body, tool string) (*http.Response, error) {
	res, err := c.do(body, tool)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res, err
}

func (c *soaker) do(body, tool string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.legacy {
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		if c.session != "" {
			req.Header.Set("Mcp-Session-Id", c.session)
		}
	} else {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", tool)
	}
	res, err := c.http.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, errStopped
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 300))
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		return nil, errShed
	case http.StatusServiceUnavailable:
		return nil, errStopped
	}
	return nil, fmt.Errorf("status %d: %s", res.StatusCode, text)
}

// post sends a call and reads its answer, from JSON or from a stream of events
// in which the server may ask first.
func (c *soaker) post(body, tool string, accept func(id json.RawMessage) error) (message, error) {
	res, err := c.do(body, tool)
	if err != nil {
		return message{}, err
	}
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			return message{}, fmt.Errorf("the answer was cut off: %w", err)
		}
		m, _, err := read(raw)
		return m, err
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		m, done, err := read(bytes.TrimSpace(data))
		if err != nil || done {
			return m, err
		}
		if m.Method == "elicitation/create" && accept != nil {
			if err := accept(m.ID); err != nil {
				return m, fmt.Errorf("the answer to a question: %w", err)
			}
		}
	}
	return message{}, fmt.Errorf("the stream ended without an answer: %v", lines.Err())
}

func read(raw []byte) (m message, done bool, err error) {
	if len(raw) == 0 {
		return m, false, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, false, fmt.Errorf("not JSON: %.200s", raw)
	}
	if m.Error != nil {
		return m, true, fmt.Errorf("protocol error %d: %s", m.Error.Code, m.Error.Message)
	}
	return m, m.Result != nil, nil
}
