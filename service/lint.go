package service

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/spec"
)

// LintOptions let documents be checked with what a policy says of them to who.
// version is that of the program, for reports.
func LintOptions(policy *resolver.Resolver, who decision.Principal, version string) lint.Options {
	titles := map[string]string{}
	for id, rule := range policy.Rules() {
		titles[id] = rule.Title
	}
	return lint.Options{Resolve: lintResolve(policy, who), Derive: lintDerive(policy, who), Titles: titles, Others: bundledNames(), Version: version}
}

// Lint checks one document, in memory, as "toolwarrant lint" does a file: its
// own form, and the policy in force. Nothing is run and nothing is written.
func (s *Service) Lint(ctx context.Context, who decision.Principal, document []byte) (lint.Report, error) {
	o := LintOptions(s.Policy, who, "")
	o.Stdin = bytes.NewReader(document)
	r, err := lint.Run(ctx, []string{"-"}, o)
	for i := range r.Findings {
		r.Findings[i].File = documentName
	}
	return r, err
}

// lintDerive asks the policy for the posture of a document.
func lintDerive(policy *resolver.Resolver, who decision.Principal) lint.Derive {
	return func(ctx context.Context, s *spec.Spec) (*spec.ToolSafety, error) {
		posture, err := policy.Safety(ctx, linted(s), who)
		var rejected *resolver.Rejection
		if errors.As(err, &rejected) {
			return nil, nil
		}
		return posture, err
	}
}

// lintResolve asks the policy about a document.
func lintResolve(policy *resolver.Resolver, who decision.Principal) lint.Resolve {
	return func(ctx context.Context, s *spec.Spec, mentions []string) ([]*fault.Error, []lint.Finding, error) {
		tool := linted(s)
		tool.Mentions = mentions
		found, err := policy.Findings(ctx, tool, who)
		var rejected *resolver.Rejection
		if errors.As(err, &rejected) {
			return rejected.All, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		findings := make([]lint.Finding, len(found))
		for i, f := range found {
			findings[i] = lint.Finding{RuleID: f.ID, Severity: lint.Severity(f.Severity), Message: f.Message, Pointer: f.Pointer, Line: f.CodeLine, Column: f.CodeColumn}
		}
		return nil, findings, nil
	}
}

// bundledNames are the names of the tools that every installation has.
func bundledNames() []string {
	var names []string
	folders, _ := fs.ReadDir(catalog.Bundled(), "tools") // a part of the program
	for _, f := range folders {
		names = append(names, f.Name())
	}
	return names
}

// linted is a document as it would be served: what is word for word a bundled
// tool as that one, whatever folder it lies in.
func linted(s *spec.Spec) resolver.Tool {
	if env, ok := catalog.Shipped(s); ok {
		return resolver.Tool{Spec: s, Source: string(catalog.SourceBuiltin), ManifestEnv: env}
	}
	return userTool(s)
}

func userTool(s *spec.Spec) resolver.Tool {
	return resolver.Tool{Spec: s, Source: string(catalog.SourceUser)}
}
