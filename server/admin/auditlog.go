package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/audit/query"
	"github.com/toolwarrant/toolwarrant/fault"
)

// errFull ends a search whose page is full.
var errFull = errors.New("admin: the page is full")

// maxPageBytes bounds the records of one page: one can have a megabyte.
const maxPageBytes = 8 << 20

// moment reads a time, or how long ago it was.
func moment(v url.Values, name string) (time.Time, error) {
	text := v.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.New(fault.Usage, name, "%s is no time; write 2026-11-28T10:00:00Z, 2026-11-28, or how long ago, such as 24h", name)
	}
	return t, nil
}

// records is one page of lines of the log, as they stand there.
type records struct {
	most  int
	bytes int
	items []json.RawMessage
	next  int64 // the place after the last of them
	more  bool
}

func (p *records) add(_ audit.Record, l audit.Line) error {
	if len(p.items) == p.most || len(p.items) > 0 && p.bytes+len(l.Raw) > maxPageBytes {
		p.more = true
		return errFull
	}
	p.items = append(p.items, bytes.Clone(l.Raw))
	p.bytes += len(l.Raw)
	p.next = l.Offset + int64(len(l.Raw)) + 1
	return nil
}

func (p *records) answer(kind string, err error) (answer, error) {
	if err != nil && !errors.Is(err, errFull) {
		return answer{}, err
	}
	var next *string
	if p.more {
		text := cursor{kind, strconv.FormatInt(p.next, 10)}.String()
		next = &text
	}
	return answer{body: map[string]any{"items": p.items, "next": next}}, nil
}

// pageOf reads where a page of the log begins and how long it is.
func pageOf(v url.Values, kind string) (p *records, from int64, err error) {
	p = &records{items: []json.RawMessage{}}
	if p.most, err = limit(v); err != nil {
		return nil, 0, err
	}
	text, err := after(v, kind)
	if err != nil || text == "" {
		return p, 0, err
	}
	if from, err = strconv.ParseInt(text, 10, 64); err != nil || from <= 0 {
		return nil, 0, fault.New(fault.Usage, "cursor", "the cursor is none of this list; begin without one")
	}
	return p, from, nil
}

// listCalls searches the closes of the log, oldest first.
func listCalls(c *call) (answer, error) {
	v, err := c.query("limit", "cursor", "since", "until", "tool*", "principal*", "outcome*", "code*", "level*", "rule*", "host*", "path*", "changed*", "call*", "param*")
	if err != nil {
		return answer{}, err
	}
	f := query.Filter{
		CallIDs: v["call"], Tools: v["tool"], Principals: v["principal"], Outcomes: v["outcome"], Codes: v["code"], Levels: v["level"],
		Rules: v["rule"], Hosts: v["host"], Paths: v["path"], Changed: v["changed"],
	}
	if f.Since, err = moment(v, "since"); err != nil {
		return answer{}, err
	}
	if f.Until, err = moment(v, "until"); err != nil {
		return answer{}, err
	}
	for _, text := range v["param"] {
		p, err := query.ParseParam(text)
		if err != nil {
			return answer{}, err
		}
		f.Params = append(f.Params, p)
	}
	p, from, err := pageOf(v, "calls")
	if err != nil {
		return answer{}, err
	}
	err = query.Search(c.ctx(), []string{c.s.opt.Service.Audit.Path()}, f, query.Options{Places: true, From: from}, p.add)
	return p.answer("calls", err)
}

// getCall tells the story of one call.
func getCall(c *call) (answer, error) {
	id, err := c.id("id")
	if err != nil {
		return answer{}, err
	}
	story, err := query.Find(c.ctx(), []string{c.s.opt.Service.Audit.Path()}, id)
	if err != nil {
		return answer{}, err
	}
	return answer{body: story}, nil
}

// listEvents searches the administrative acts of the log, oldest first.
func listEvents(c *call) (answer, error) {
	v, err := c.query("limit", "cursor", "since", "until", "kind*", "principal*")
	if err != nil {
		return answer{}, err
	}
	f := query.EventFilter{Kinds: v["kind"], Principals: v["principal"]}
	if f.Since, err = moment(v, "since"); err != nil {
		return answer{}, err
	}
	if f.Until, err = moment(v, "until"); err != nil {
		return answer{}, err
	}
	p, from, err := pageOf(v, "events")
	if err != nil {
		return answer{}, err
	}
	// No index has the events, and places of their lines are counted by seq.
	err = query.Events(c.ctx(), []string{c.s.opt.Service.Audit.Path()}, f, func(r audit.Record, l audit.Line) error {
		if int64(r.Seq) < from {
			return nil
		}
		if err := p.add(r, l); err != nil {
			return err
		}
		p.next = int64(r.Seq) + 1
		return nil
	})
	return p.answer("events", err)
}
