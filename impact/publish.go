package impact

import (
	"context"
	"errors"
	"slices"

	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// What publishing a tool asks for is asked of the policy's own rules, by
// putting callers to them: anybody, the caller of the question, and each
// author whom either policy trusts. The Local Pass is asked by no policy and of
// every tool, so that it cannot differ.

const (
	publishPath = "publish.asks"
	// justification is one as an author might give one.
	justification = "It is needed for the reports of the next quarter, and was looked at by two people."
	// unpublishable stands for the rejection of the document for a caller.
	unpublishable = "rejected"
)

// author is somebody who would publish.
type author struct {
	path      string
	principal decision.Principal
	says      string
}

// authors are those that are asked about. The first is anybody: what differs
// for others the way it does for anybody is no news of theirs.
func authors(ctx context.Context, q Question, policies ...*resolver.Resolver) ([]author, error) {
	as := func(subject string, groups ...string) decision.Principal {
		p := q.Principal
		p.Subject, p.Groups, p.Scopes = subject, append([]string{}, groups...), []string{}
		return p
	}
	const anybody = "(anybody)"
	out := []author{
		{publishPath, as(anybody), ""}, {publishPath + ".justified", as(anybody), justification}, {publishPath + ".caller", q.Principal, ""},
	}
	var groups, subjects []string
	for _, p := range policies {
		trusted, err := p.TrustedAuthors(ctx)
		if err != nil {
			return nil, err
		}
		groups, subjects = append(groups, trusted.Groups...), append(subjects, trusted.Subjects...)
	}
	slices.Sort(groups)
	slices.Sort(subjects)
	for _, g := range slices.Compact(groups) {
		out = append(out, author{publishPath + ".group " + g, as(anybody, g), ""})
	}
	for _, s := range slices.Compact(subjects) {
		out = append(out, author{publishPath + ".subject " + s, as(s), ""})
	}
	return out, nil
}

// publishing says what differs in what publishing a tool asks for.
func publishing(ctx context.Context, old, new *resolver.Resolver, tool resolver.Tool, all []author) ([]Change, error) {
	var changes, anybodys []Change
	for i, a := range all {
		before, err := asks(ctx, old, tool, a)
		if err != nil {
			return nil, err
		}
		after, err := asks(ctx, new, tool, a)
		if err != nil {
			return nil, err
		}
		found := askedMore(before, after)
		if i == 0 {
			anybodys = found
		} else if slices.EqualFunc(found, anybodys, Change.sameEntries) {
			continue
		}
		if len(found) == 0 { // anybody is asked otherwise, and they are not
			continue
		}
		for _, c := range found {
			c.Path = a.path
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// asks are the ids of what a policy misses where an author publishes a tool.
func asks(ctx context.Context, p *resolver.Resolver, tool resolver.Tool, a author) ([]string, error) {
	missing, err := p.PublishRefusals(ctx, resolver.Request{Tool: tool, Principal: a.principal, Origin: decision.OriginCLITest}, a.says)
	var rejected *resolver.Rejection
	if errors.As(err, &rejected) {
		return []string{unpublishable}, nil
	}
	if err != nil {
		return nil, about(err, p, tool)
	}
	out := []string{}
	for _, r := range missing {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (c Change) sameEntries(d Change) bool {
	return slices.Equal(c.Added, d.Added) && slices.Equal(c.Removed, d.Removed)
}

// askedMore compares what is asked: less is wider. Where something came and
// something went it is wider and tighter at once.
func askedMore(old, new []string) []Change {
	var changes []Change
	if gone := missing(old, new); len(gone) > 0 {
		changes = append(changes, Change{Old: old, New: new, Direction: Widened, Removed: gone})
	}
	if came := missing(new, old); len(came) > 0 {
		changes = append(changes, Change{Old: old, New: new, Direction: Tightened, Added: came})
	}
	return changes
}
