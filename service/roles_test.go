package service

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/decision"
)

func TestRolesOf(t *testing.T) {
	c := config.Roles{
		Viewer:   config.RoleOf{Subjects: []string{"vera", "local"}},
		Author:   config.RoleOf{Groups: []string{"authors"}, Subjects: []string{"uid:0", "none"}},
		Approver: config.RoleOf{Scopes: []string{"approve"}},
		Admin:    config.RoleOf{Subjects: []string{"root", ""}, Groups: []string{""}},
	}
	viewer, author, approver, all := []Role{RoleViewer}, []Role{RoleViewer, RoleAuthor}, []Role{RoleViewer, RoleApprover}, []Role{RoleViewer, RoleAuthor, RoleApprover, RoleAdmin}
	for name, tc := range map[string]struct {
		p    decision.Principal
		want []Role
	}{
		"subject":                      {decision.Principal{Subject: "vera", Method: "oidc"}, viewer},
		"group":                        {decision.Principal{Subject: "x", Method: "oidc", Groups: []string{"a", "authors"}}, author},
		"scope":                        {decision.Principal{Subject: "x", Method: "oidc", Scopes: []string{"approve"}}, approver},
		"admin is all":                 {decision.Principal{Subject: "root", Method: "mtls"}, all},
		"author and approver":          {decision.Principal{Subject: "x", Method: "oidc", Groups: []string{"authors"}, Scopes: []string{"approve"}}, []Role{RoleViewer, RoleAuthor, RoleApprover}},
		"nobody in particular":         {decision.Principal{Subject: "x", Method: "oidc"}, []Role{}},
		"a scope is no group":          {decision.Principal{Subject: "x", Method: "oidc", Scopes: []string{"authors"}}, []Role{}},
		"letter case counts":           {decision.Principal{Subject: "Root", Method: "oidc"}, []Role{}},
		"an empty subject is nobody":   {decision.Principal{Subject: "", Method: "oidc", Groups: []string{""}}, []Role{}},
		"local":                        {LocalAdmin(), viewer},
		"local, authenticated":         {decision.Principal{Subject: "local", Method: "oidc"}, []Role{}},
		"root, not authenticated":      {decision.Principal{Subject: "root", Method: "none"}, []Role{}},
		"root, by its own word":        {decision.Principal{Subject: "root", Method: "oidc", Untrusted: true}, []Role{}},
		"root, without a method":       {decision.Principal{Subject: "root"}, []Role{}},
		"local, with groups of itself": {decision.Principal{Subject: "local", Method: "none", Groups: []string{"authors"}, Scopes: []string{"approve"}}, viewer},
	} {
		if d := cmp.Diff(tc.want, rolesOf(c, tc.p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if got := rolesOf(config.Roles{}, LocalAdmin()); len(got) != 0 {
		t.Errorf("without a configuration local has %v", got)
	}
}
