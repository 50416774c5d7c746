package service

import (
	"context"
	"io/fs"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/spec"
)

// Import takes a document from elsewhere into the catalog of this home, with
// the fixtures in beside (nil = none). It is a draft there whatever it says of
// itself; every member that toolwarrant does not know stays byte for byte. The
// report says what lint finds: findings keep no document out. A name or an id
// of a bundled tool, and an id of any tool, is refused (SPEC_INVARIANT, reason
// name-conflict). The act is on record before it takes effect. It is for
// whoever operates the installation: no role is asked for.
func (s *Service) Import(ctx context.Context, p decision.Principal, doc *spec.Spec, beside fs.FS) (*catalog.Tool, lint.Report, error) {
	report, err := s.Lint(ctx, p, doc.Standalone())
	if err != nil {
		return nil, report, err
	}
	t, err := s.newDraft(ctx, "draft.import", p, doc, func() (*catalog.Tool, error) { return s.Catalog.ImportDraft(ctx, doc, beside) })
	return t, report, err
}

// Clone makes a draft called name from t, with a toolId of its own. It is for
// whoever operates the installation, and on record, as Import is.
func (s *Service) Clone(ctx context.Context, p decision.Principal, t *catalog.Tool, name string) (*catalog.Tool, error) {
	if err := t.Verify(); err != nil {
		return nil, err
	}
	return s.newDraft(ctx, "draft.clone", p, t.Spec, func() (*catalog.Tool, error) { return s.Catalog.CloneDraft(ctx, t, name) })
}

func (s *Service) newDraft(ctx context.Context, kind string, p decision.Principal, from *spec.Spec, make func() (*catalog.Tool, error)) (*catalog.Tool, error) {
	if err := s.draftEvent(ctx, kind, p, from.ToolID, from); err != nil {
		return nil, err
	}
	t, err := make()
	if err != nil {
		s.undone(ctx, kind, p, err)
	}
	return t, err
}
