package catalog_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/executor/filesystem"
	"github.com/toolwarrant/toolwarrant/executor/worker"
)

// broker answers a tool's effects: files in a fresh workspace, fetches from
// its fixtures.
type broker struct {
	t        *testing.T
	files    *filesystem.FS
	fixtures []catalog.Fixture
	hosts    []string
}

func newBroker(t *testing.T, tool *catalog.Tool) *broker {
	t.Helper()
	b := &broker{t: t}
	fixtures, _, err := catalog.Fixtures(tool)
	if err != nil {
		t.Fatal(err)
	}
	b.fixtures = fixtures
	if o := tool.Spec.Overrides; o != nil {
		b.hosts = o.HostsAllow
		b.files = filesystem.New(decision.FS{Read: true, Write: true, BasePath: workspace(t)}, filesystem.Options{})
		t.Cleanup(func() { _ = b.files.Close() })
	}
	return b
}

// Do implements worker.Broker.
func (b *broker) Do(ctx context.Context, req worker.BrokerRequest) worker.BrokerReply {
	var args []json.RawMessage
	if err := json.Unmarshal(req.Args, &args); err != nil {
		b.t.Errorf("arguments of %s: %v", req.Op, err)
	}
	text := func(i int) (s string) {
		if i >= len(args) || json.Unmarshal(args[i], &s) != nil {
			b.t.Errorf("%s: argument %d of %s is not a string", req.Op, i, req.Args)
		}
		return s
	}
	switch req.Op {
	case worker.OpFSReadText:
		return answer(b.files.ReadText(ctx, text(0)))
	case worker.OpFSWriteText:
		return answer(b.files.WriteText(ctx, text(0), text(1)))
	case worker.OpParserCSV:
		return b.csv(text(0), args[1])
	case worker.OpFetch:
		return b.fetch(text(0), args[1])
	}
	return worker.BrokerReply{Failure: &worker.Failure{Code: "SECURITY", Reason: "not-granted", Message: string(req.Op)}}
}

func answer[T any](v T, f *worker.Failure) worker.BrokerReply {
	if f != nil {
		return worker.BrokerReply{Failure: f}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: "INTERNAL", Message: err.Error()}}
	}
	return worker.BrokerReply{Result: raw}
}

func (b *broker) csv(text string, options json.RawMessage) worker.BrokerReply {
	var o struct {
		Header    bool
		Delimiter string
	}
	if err := json.Unmarshal(options, &o); err != nil {
		b.t.Error(err)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = []rune(o.Delimiter)[0]
	rows, err := r.ReadAll()
	if err != nil {
		return worker.BrokerReply{Failure: &worker.Failure{Code: "HELPER_RUNTIME", Reason: "parse-failed", Message: err.Error()}}
	}
	if !o.Header {
		return answer(rows, nil)
	}
	objects := []map[string]string{}
	for _, row := range rows[1:] {
		object := map[string]string{}
		for i, cell := range row {
			object[rows[0][i]] = cell
		}
		objects = append(objects, object)
	}
	return answer(objects, nil)
}

func (b *broker) fetch(target string, options json.RawMessage) worker.BrokerReply {
	var init struct {
		Method    string            `json:"method"`
		Headers   map[string]string `json:"headers"`
		MaxLength *int64            `json:"maxLength"`
	}
	if err := json.Unmarshal(options, &init); err != nil {
		b.t.Error(err)
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "https" || !slices.Contains(b.hosts, u.Host) {
		b.t.Errorf("the tool asks for %s, which its overrides do not allow", target)
	}
	if init.MaxLength == nil {
		b.t.Errorf("the request for %s has no maxLength", target)
	}
	method := init.Method
	if method == "" {
		method = "GET"
	}
	f, ok := catalog.MatchFixture(b.fixtures, method, target)
	if !ok {
		b.t.Errorf("no fixture for %s %s", method, target)
	}
	return answer(map[string]any{
		"status": f.Response.Status, "statusText": "", "url": target, "contentType": nil, "headers": [][2]string{},
		"body": map[string][]byte{"$bytes": f.Response.Bytes()}, "truncated": false, "nextStartIndex": nil,
	}, nil)
}
