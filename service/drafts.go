package service

import (
	"context"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/digest"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// documentName is what findings call a document that is not on disk.
const documentName = "document"

// ReadDocument reads one document of a tool. Of several failures the first is
// the error; all gives every one.
func ReadDocument(data []byte) (doc *spec.Spec, all []*fault.Error) {
	if len(data) > spec.MaxDocumentBytes {
		return nil, []*fault.Error{fault.New(fault.SpecParse, "too-large", "the document has %d bytes, at most %d are taken", len(data), spec.MaxDocumentBytes)}
	}
	doc, all = spec.Parse(documentName, data)
	if len(all) > 0 {
		return nil, all
	}
	return doc, nil
}

// Drafts lists the tools whose documents can be changed here, drafts or not,
// by name.
func (s *Service) Drafts(ctx context.Context) ([]*catalog.Tool, error) {
	all, err := s.Catalog.List(ctx)
	if err != nil {
		return nil, err
	}
	out := []*catalog.Tool{}
	for _, t := range all {
		if s.ownDocument(t) == nil {
			out = append(out, t)
		}
	}
	return out, nil
}

// ETag names the document of t, byte for byte.
func ETag(t *catalog.Tool) string { return digest.Bytes(t.Spec.Standalone()) }

// CreateDraft puts a new document into the catalog of this home, as a draft.
// The act is on record before it takes effect.
func (s *Service) CreateDraft(ctx context.Context, p decision.Principal, doc *spec.Spec) (*catalog.Tool, error) {
	if err := s.Needs(p, RoleAuthor); err != nil {
		return nil, err
	}
	if err := s.draftEvent(ctx, "draft.create", p, doc.ToolID, doc); err != nil {
		return nil, err
	}
	return s.Catalog.CreateDraft(ctx, doc, s.knows(p))
}

// knows says of which tools p may know, as the catalog asks it; nil = of all.
func (s *Service) knows(p decision.Principal) catalog.Knows {
	if s.Needs(p, RoleAdmin) == nil {
		return nil
	}
	return func(ctx context.Context, tools []*catalog.Tool) ([]bool, error) {
		asked := make([]resolver.Tool, len(tools))
		for i, t := range tools {
			asked[i] = policyTool(t)
		}
		seen, err := s.Policy.Visible(ctx, p, asked)
		if err != nil {
			return nil, err
		}
		for i, t := range tools {
			if !seen[i] {
				if seen[i], err = s.MaySee(ctx, p, t); err != nil {
					return nil, err
				}
			}
		}
		return seen, nil
	}
}

// ReplaceDraft puts another document in the place of t, which is a draft from
// then on. One whose mode asks humans less is refused (USAGE,
// confirmation-required). The act is on record before it takes effect.
func (s *Service) ReplaceDraft(ctx context.Context, p decision.Principal, t *catalog.Tool, doc *spec.Spec) (*catalog.Tool, error) {
	if err := s.MayTool(ctx, p, t, ActEdit, ""); err != nil {
		return nil, err
	}
	if err := s.keepsOversight(ctx, p, t, doc); err != nil {
		return nil, err
	}
	if err := s.draftEvent(ctx, "draft.replace", p, t.Spec.ToolID, doc); err != nil {
		return nil, err
	}
	return s.Catalog.ReplaceDraft(ctx, t, doc, s.knows(p))
}

// DeleteDraft deletes the document of a draft. The act is on record before it
// takes effect.
func (s *Service) DeleteDraft(ctx context.Context, p decision.Principal, t *catalog.Tool) error {
	if err := s.MayTool(ctx, p, t, ActDelete, ""); err != nil {
		return err
	}
	if err := s.draftEvent(ctx, "draft.delete", p, t.Spec.ToolID, t.Spec); err != nil {
		return err
	}
	return s.Catalog.RemoveDraft(ctx, t)
}

func (s *Service) draftEvent(ctx context.Context, kind string, p decision.Principal, toolID string, doc *spec.Spec) error {
	return s.event(ctx, kind, p, map[string]any{"toolId": toolID, "name": doc.Name, "specDigest": doc.Digest()})
}

// Recorded puts an administrative act on record, before it takes effect. It
// fails with AUDIT_UNAVAILABLE, and then the act must not be done. detail is
// small and holds no secret.
func (s *Service) Recorded(ctx context.Context, kind string, p decision.Principal, detail map[string]any) error {
	return s.event(ctx, kind, p, detail)
}
