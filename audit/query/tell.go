package query

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/internal/plural"
)

// Tell writes a story for a person, a page at most for a common call. What it
// writes went through the mask when it was recorded.
func Tell(w io.Writer, s Story) error {
	var b bytes.Buffer
	t := teller{&b}
	last := s.Last()
	t.line("call", "%s, by %s", s.CallID, string(last.Origin))
	if last.Phase != audit.PhaseClose {
		t.line("state", "not closed: the last record is %s of %s", last.Phase, last.Time)
	}
	t.who(&last)
	t.decided(&last)
	t.human(s)
	t.touched(&last)
	t.ended(&last)
	for _, r := range s.Related {
		t.line("see also", "%s at %s: %s %s", r.CallID, r.Time, outcome(&r), code(&r))
	}
	for _, r := range s.Events {
		t.line("event", "%s at %s: %s", text(r.Kind), r.Time, r.Detail)
	}
	_, err := w.Write(b.Bytes())
	return err
}

type teller struct{ w *bytes.Buffer }

// line writes a labelled line; a label that stands alone goes on with the one
// above.
func (t teller) line(label, format string, args ...any) {
	fmt.Fprintf(t.w, "%-12s %s\n", label, mask.Visible(fmt.Sprintf(format, args...)))
}

func (t teller) who(r *audit.Record) {
	if p := r.Principal; p != nil {
		who := fmt.Sprintf("%s (%s)", p.Subject, p.Method)
		if p.ClientID != "" {
			who += ", client " + p.ClientID
		}
		if len(p.Groups) > 0 {
			who += ", groups " + strings.Join(p.Groups, ", ")
		}
		t.line("who", "%s", who)
	}
	if x := r.Tool; x != nil {
		t.line("tool", "%s %s", x.Name, x.ToolID)
		if x.SpecDigest != "" {
			t.line("", "document %s", x.SpecDigest)
		}
	}
	if len(r.Params) > 0 && string(r.Params) != "null" {
		t.line("arguments", "%s", clip(string(r.Params), 1000))
	}
	if hidden := hidden(r); len(hidden) > 0 {
		t.line("not shown", "%s", clip(strings.Join(hidden, ", "), 1000))
	}
}

// hidden are the places of a record that do not show what was there. What
// decision.input has is there a second time.
func hidden(r *audit.Record) (out []string) {
	if r.Decision == nil {
		return nil
	}
	for _, p := range r.Decision.MaskedPointers {
		if !strings.HasPrefix(p, "/decision/input/") {
			out = append(out, p)
		}
	}
	return out
}

func (t teller) decided(r *audit.Record) {
	if r.RiskLevel != nil {
		t.line("decided", "%s", *r.RiskLevel)
	}
	if d := r.Decision; d != nil {
		t.line("", "at %s, decision %s", d.DecidedAt, d.ID)
	}
	if p := r.Policy; p != nil {
		t.line("", "policy %s, profiles %s", p.Revision, cmp.Or(strings.Join(p.ProfileChain, ", "), "none"))
	}
	for _, s := range r.RiskSignals {
		t.line("", "%s %s: %s", s.Level, s.ID, s.Message)
	}
	for _, x := range r.Reasons {
		t.line("because", "%s: %s %s", x.ID, x.Message, x.Path)
	}
	if e := r.Effective; e != nil {
		network := e.Network.Mode
		if len(e.Network.Hosts) > 0 {
			network += ": " + strings.Join(e.Network.Hosts, ", ")
		}
		t.line("allowed", "network %s", network)
		t.line("", "files read %v, write %v", e.FS.Read, e.FS.Write)
		if len(e.AllowClasses) > 0 {
			t.line("", "classes %s", strings.Join(e.AllowClasses, ", "))
		}
	}
}

func (t teller) human(s Story) {
	for _, r := range s.Records {
		if r.Phase == audit.PhaseAsk && r.HITL != nil {
			t.line("asked", "at %s, prompt %s", r.Time, text(r.HITL.PromptDigest))
		}
	}
	h := s.Last().HITL
	if h == nil {
		return
	}
	line := string(h.Outcome)
	if a := text(h.Approver); a != "" {
		line += " by " + a
	}
	if c := text(h.Channel); c != "" {
		line += " through " + c
	}
	if h.ElapsedMs != nil {
		line += fmt.Sprintf(" after %.1f s", float64(*h.ElapsedMs)/1000)
	}
	t.line("approval", "%s (mode %s)", line, h.Mode)
}

func (t teller) touched(r *audit.Record) {
	if u := r.Usage; u != nil {
		for _, e := range u.Egress {
			t.line("network", "%s %s: status %d, %d bytes", e.Host, e.IP, e.Status, e.Bytes)
		}
		for _, f := range u.FS {
			t.line("file", "%s %s, %d bytes", f.Op, f.Path, f.Bytes)
		}
		if u.Statements != nil {
			t.line("used", "%s, %s", plural.Of(*u.Statements, "statement"), plural.Of(u.LogLines, "log line"))
		}
	}
	for _, c := range r.Sandbox {
		t.command(c)
	}
	if r.TestMode != nil {
		t.line("test", "%s", map[string]string{"fixture": "fetches were answered from recorded exchanges", "live": "fetches went to the network"}[*r.TestMode])
	}
	if i := r.Isolation; i != nil {
		t.line("isolation", "%s", i.Mode)
	}
}

// command tells of a command in a sandbox: it may have changed whatever it was
// shown writable, of which there is no list of files.
func (t teller) command(c audit.Sandbox) {
	end := "exit status unknown"
	switch {
	case c.Error != nil:
		end = "did not run to its end: " + *c.Error
	case c.TimedOut:
		end = "timed out"
	case c.ExitCode != nil:
		end = fmt.Sprintf("exit %d", *c.ExitCode)
	}
	if l := text(c.LimitHit); l != "" {
		end += ", met the limit " + l
	}
	t.line("command", "%s (%s, %s)", clip(strings.Join(c.Argv, " "), 1000), cmp.Or(c.Backend, "no sandbox"), end)
	for _, m := range c.Mounts {
		how := "read-only"
		if m.Writable {
			how = "writable: it may have changed any file there"
		}
		t.line("", "saw %s at %s, %s", m.Source, m.Target, how)
	}
	for _, x := range c.Connections {
		how := "allowed"
		if !x.Allowed {
			how = "refused " + text(x.Reason)
		}
		t.line("", "network %s:%d %s, %s", x.Host, x.Port, x.Address, how)
	}
	for _, d := range slices.Sorted(maps.Keys(c.Partial)) {
		t.line("", "enforced less than asked: %s %s", d, c.Partial[d])
	}
}

func (t teller) ended(r *audit.Record) {
	if r.Outcome == nil {
		return
	}
	took := ""
	if d := r.Duration; d != nil {
		took = fmt.Sprintf(" after %.1f ms (decide %.1f, approve %.1f, execute %.1f)", d.Total, d.Decide, d.Approve, d.Execute)
	}
	t.line("ended", "%s at %s%s", *r.Outcome, r.Time, took)
	if e := r.Error; e != nil {
		t.line("", "%s: %s", code(r), e.Message)
	}
	if x := r.Result; x != nil {
		t.line("", "result of %d bytes, %s", x.Bytes, x.Digest)
		if len(x.Content) > 0 {
			t.line("", "which is %s", clip(string(x.Content), 1000))
		}
	}
}

func code(r *audit.Record) string {
	if r.Error == nil {
		return ""
	}
	out := string(r.Error.Code)
	if reason := text(r.Error.Reason); reason != "" {
		out += " (" + reason + ")"
	}
	return out
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("... (%d bytes)", len(s))
}
