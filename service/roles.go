package service

import (
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// Role is what somebody may do through the admin interface. A role says
// nothing about tools: what a principal may see and call of them is policy.
type Role string

// The roles. An author and an approver are viewers too, an admin is all of
// them. The zero value is held by every authenticated principal.
const (
	RoleViewer   Role = "viewer"
	RoleAuthor   Role = "author"
	RoleApprover Role = "approver"
	RoleAdmin    Role = "admin"
)

// LocalSubject is the subject of whoever reaches a loopback address where
// there is no authentication.
const LocalSubject = "local"

// LocalAdmin is the principal of an admin interface without authentication.
func LocalAdmin() decision.Principal {
	return decision.Principal{Subject: LocalSubject, Method: "none", ClientID: "admin", Untrusted: true, Groups: []string{}, Scopes: []string{}}
}

// Roles gives the roles of p as the configuration maps them, implied ones
// included, in the order viewer, author, approver, admin; empty for nobody in
// particular. Safe for concurrent use.
func (s *Service) Roles(p decision.Principal) []Role { return rolesOf(s.Config.Admin.Roles, p) }

func rolesOf(c config.Roles, p decision.Principal) []Role {
	admin := holds(c.Admin, p)
	author, approver := admin || holds(c.Author, p), admin || holds(c.Approver, p)
	out := []Role{}
	for _, r := range []struct {
		role Role
		held bool
	}{{RoleViewer, author || approver || holds(c.Viewer, p)}, {RoleAuthor, author}, {RoleApprover, approver}, {RoleAdmin, admin}} {
		if r.held {
			out = append(out, r.role)
		}
	}
	return out
}

// holds reports whether p fits an entry. A principal that nobody
// authenticated fits the entry "local" alone: its other attributes are what it
// says of itself. An authenticated one never fits that entry, whatever its
// provider calls it.
func holds(c config.RoleOf, p decision.Principal) bool {
	if p.Method == "" || p.Method == "none" || p.Untrusted {
		return p.Subject == LocalSubject && slices.Contains(c.Subjects, LocalSubject)
	}
	in := func(list []string) func(string) bool {
		return func(s string) bool { return s != "" && slices.Contains(list, s) }
	}
	return p.Subject != LocalSubject && in(c.Subjects)(p.Subject) || slices.ContainsFunc(p.Groups, in(c.Groups)) || slices.ContainsFunc(p.Scopes, in(c.Scopes))
}

// Needs refuses p unless it has the role: POLICY_DENIED, reason "role".
func (s *Service) Needs(p decision.Principal, role Role) error {
	have := s.Roles(p)
	if role == "" || slices.Contains(have, role) {
		return nil
	}
	names := make([]string, len(have))
	for i, r := range have {
		names[i] = string(r)
	}
	return fault.New(fault.PolicyDenied, "role", "this needs the role %s, and %q has %s; the operator gives roles with the config keys admin.roles.%s.{subjects,groups,scopes}",
		role, p.Subject, orNone(names), role)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
