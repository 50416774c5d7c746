package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/service"
	"github.com/toolwarrant/toolwarrant/spec"
)

// tag is the header with the ETag of a document (RFC 9110, section 8.8.3).
func tag(t *catalog.Tool) map[string]string {
	return map[string]string{"ETag": `"` + service.ETag(t) + `"`}
}

func listDrafts(c *call) (answer, error) {
	v, err := c.query("limit", "cursor")
	if err != nil {
		return answer{}, err
	}
	own, err := c.s.opt.Service.Drafts(c.ctx())
	if err != nil {
		return answer{}, err
	}
	items, next, err := c.pageOfTools(v, "drafts", own)
	return answer{body: map[string]any{"items": items, "next": next}}, err
}

// draft finds the document of the path: by its toolId alone, since names
// change.
func (c *call) draft() (*catalog.Tool, error) {
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	t, err := c.s.opt.Service.ToolFor(c.ctx(), c.who, id)
	if err == nil && t.Spec.ToolID != id {
		err = fault.New(fault.NotFound, "unknown-tool", "there is no tool with the toolId %q", id)
	}
	return t, err
}

func getDraft(c *call) (answer, error) {
	t, err := c.draft()
	if err != nil {
		return answer{}, err
	}
	v, err := c.view(t)
	return answer{body: v, header: tag(t)}, err
}

// document reads a request whose body is {"document": {...}}.
func (c *call) document() (json.RawMessage, error) {
	var in struct {
		Document json.RawMessage `json:"document"`
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if len(in.Document) == 0 || in.Document[0] != '{' {
		return nil, fault.New(fault.Usage, "bad-value", "document is the document of a tool, an object").At("", "/document", 0, 0)
	}
	return in.Document, nil
}

// parsed reads the document of a request. What is wrong with it is a failure
// with its place inside the document.
func (c *call) parsed() (*spec.Spec, error) {
	raw, err := c.document()
	if err != nil {
		return nil, err
	}
	doc, wrong := service.ReadDocument(raw)
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return doc, nil
}

func createDraft(c *call) (act, error) {
	doc, err := c.parsed()
	if err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // CreateDraft leaves the event draft.create
		t, err := c.s.opt.Service.CreateDraft(ctx, c.who, doc)
		if err != nil {
			return answer{}, err
		}
		v, err := c.view(t)
		header := tag(t)
		header["Location"] = base + "/drafts/" + t.Spec.ToolID
		return answer{status: http.StatusCreated, body: v, header: header}, err
	}}, nil
}

// matched refuses a change that was not made from the document as it is (RFC
// 9110, section 13.1.1).
func (c *call) matched(t *catalog.Tool) error {
	switch given := c.r.Header.Get("If-Match"); given {
	case tag(t)["ETag"]:
		return nil
	case "":
		return fault.New(fault.Usage, "precondition-required", "send If-Match with the ETag that the document was read with")
	}
	return fault.New(fault.Usage, "precondition-failed", "the document was changed since it was read; read it again")
}

func putDraft(c *call) (act, error) {
	t, err := c.draft()
	if err != nil {
		return act{}, err
	}
	if err := c.matched(t); err != nil {
		return act{}, err
	}
	doc, err := c.parsed()
	if err != nil {
		return act{}, err
	}
	s := c.s.opt.Service
	if err := s.MayTool(c.ctx(), c.who, t, service.ActEdit, ""); err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // ReplaceDraft leaves the event draft.replace
		now, err := s.ReplaceDraft(ctx, c.who, t, doc)
		if err != nil {
			return answer{}, err
		}
		v, err := c.view(now)
		return answer{body: v, header: tag(now)}, err
	}}, nil
}

func deleteDraft(c *call) (act, error) {
	t, err := c.draft()
	if err != nil {
		return act{}, err
	}
	if err := c.matched(t); err != nil {
		return act{}, err
	}
	s := c.s.opt.Service
	if err := s.MayTool(c.ctx(), c.who, t, service.ActDelete, ""); err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // DeleteDraft leaves the event draft.delete
		return answer{status: http.StatusNoContent}, s.DeleteDraft(ctx, c.who, t)
	}}, nil
}

// finding is one defect of a document, in the shape of "toolwarrant lint".
type finding struct {
	RuleID   string        `json:"ruleId"`
	Severity lint.Severity `json:"severity"`
	Message  string        `json:"message"`
	File     string        `json:"file"`
	Pointer  string        `json:"pointer"`
	Line     int           `json:"line"`
	Column   int           `json:"column"`
}

func lintDocument(c *call) (answer, error) {
	raw, err := c.document()
	if err != nil {
		return answer{}, err
	}
	r, err := c.s.opt.Service.Lint(c.ctx(), c.who, raw)
	if err != nil {
		return answer{}, err
	}
	found := make([]finding, len(r.Findings))
	for i, f := range r.Findings {
		found[i] = finding(f)
	}
	return answer{body: map[string]any{"ok": r.OK(), "findings": found, "summary": r.Summary}}, nil
}
