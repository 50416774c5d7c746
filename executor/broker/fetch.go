package broker

import (
	"context"
	"encoding/json"

	"github.com/toolwarrant/toolwarrant/executor/egress"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/internal/optional"
)

func fetch(ctx context.Context, b *Broker, in *args) (json.RawMessage, *worker.Failure) {
	req := egress.Request{URL: in.str(0, "the URL")}
	var o struct {
		Method     *string  `json:"method"`
		Headers    *headers `json:"headers"`
		Body       *payload `json:"body"`
		MaxLength  *number  `json:"maxLength"`
		StartIndex *number  `json:"startIndex"`
	}
	if in.options(1, &o); in.fail != nil {
		return nil, in.fail
	}
	req.Method = or(o.Method, "")
	req.Headers = or(o.Headers, headers{}).list
	req.Body = or(o.Body, payload{}).data
	req.MaxLength, req.StartIndex = o.MaxLength.int(), or(o.StartIndex.int(), 0)

	send := b.egress.Fetch
	if b.opts.Fetcher != nil {
		send = b.fixture
	}
	resp, fail := send(ctx, req)
	if fail != nil {
		return nil, fail
	}
	headers := make([][2]string, len(resp.Headers))
	for i, h := range resp.Headers {
		headers[i] = [2]string{h.Name, h.Value}
	}
	body := resp.Body
	if body == nil {
		body = []byte{}
	}
	return reply(struct {
		Status         int         `json:"status"`
		StatusText     string      `json:"statusText"`
		URL            string      `json:"url"`
		ContentType    *string     `json:"contentType"`
		Headers        [][2]string `json:"headers"`
		Body           binary      `json:"body"`
		Truncated      bool        `json:"truncated"`
		NextStartIndex *int64      `json:"nextStartIndex"`
	}{resp.Status, resp.StatusText, resp.URL, optional.Of(resp.ContentType()), headers, binary{body}, resp.Truncated, resp.NextStartIndex}, nil)
}

// fixture answers from the Fetcher what the policy would have let out.
func (b *Broker) fixture(ctx context.Context, req egress.Request) (*egress.Response, *worker.Failure) {
	if fail := b.egress.Admit(req); fail != nil {
		return nil, fail
	}
	resp, fail := b.opts.Fetcher.Fetch(ctx, req)
	if fail != nil {
		return nil, fail
	}
	return resp.Cut(req), nil
}

// binary is how bytes travel.
type binary struct {
	Bytes []byte `json:"$bytes"`
}
