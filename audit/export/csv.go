package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// Columns of CSV. Lists are joined by a semicolon and a space.
var Columns = []string{
	"time", "seq", "callId", "relatedCallId", "traceId", "origin", "subject", "clientId", "groups", "tool", "toolId", "category", "specDigest",
	"policyRevision", "riskLevel", "riskSignals", "reasons", "approval", "approver", "outcome", "code", "reason", "message",
	"decideMs", "approveMs", "executeMs", "totalMs", "hosts", "paths", "resultBytes", "resultDigest", "sum",
}

type csvWriter struct {
	w    *csv.Writer
	head bool
}

func newCSV(w io.Writer) *csvWriter { return &csvWriter{w: csv.NewWriter(w)} }

func (c *csvWriter) Add(r audit.Record, _ []byte) error {
	if err := c.start(); err != nil {
		return err
	}
	line := row(&r)
	for i := range line {
		line[i] = Cell(line[i])
	}
	return c.w.Write(line)
}

func (c *csvWriter) start() error {
	if c.head {
		return nil
	}
	c.head = true
	return c.w.Write(Columns)
}

func (c *csvWriter) Close() error {
	if err := c.start(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// Cell makes a text fit for a cell: what a spreadsheet would take for a
// formula gets an apostrophe before it, and control characters are spelt out.
func Cell(s string) string {
	s = mask.Visible(s)
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	for _, sign := range []string{"=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠", `\t`, `\r`, `\n`} {
		if strings.HasPrefix(rest, sign) {
			return "'" + s
		}
	}
	return s
}

func row(r *audit.Record) []string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	list := func(l []string) string { return strings.Join(l, "; ") }
	var subject, client, groups, tool, toolID, category, digest, revision, approval, approver, code, reason, message string
	if p := r.Principal; p != nil {
		subject, client, groups = p.Subject, p.ClientID, list(p.Groups)
	}
	if t := r.Tool; t != nil {
		tool, toolID, category, digest = t.Name, t.ToolID, string(t.Category), t.SpecDigest
	}
	if r.Policy != nil {
		revision = r.Policy.Revision
	}
	if h := r.HITL; h != nil {
		approval, approver = string(h.Outcome), text(h.Approver)
	}
	if e := r.Error; e != nil {
		code, reason, message = string(e.Code), text(e.Reason), e.Message
	}
	var ms [4]string
	if d := r.Duration; d != nil {
		ms = [4]string{number(d.Decide), number(d.Approve), number(d.Execute), number(d.Total)}
	}
	var hosts, paths []string
	if u := r.Usage; u != nil {
		for _, e := range u.Egress {
			hosts = append(hosts, e.Host)
		}
		for _, f := range u.FS {
			paths = append(paths, f.Path)
		}
	}
	bytes, result := "", ""
	if r.Result != nil {
		bytes, result = strconv.FormatInt(r.Result.Bytes, 10), r.Result.Digest
	}
	signals, reasons := rules(r)
	return []string{
		r.Time, strconv.FormatUint(r.Seq, 10), r.CallID, text(r.RelatedCallID), text(r.TraceID), string(r.Origin), subject, client, groups, tool, toolID, category, digest,
		revision, text(r.RiskLevel), list(signals), list(reasons), approval, approver, text(r.Outcome), code, reason, message,
		ms[0], ms[1], ms[2], ms[3], list(hosts), list(paths), bytes, result, r.Sum,
	}
}
