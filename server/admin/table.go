package admin

import "github.com/toolwarrant/toolwarrant/service"

const base = "/api/v1"

// runID is the operation that makes a call: each leaves its record, also one
// that is refused before the pipeline sees it.
const runID = "runTool"

// table lists every operation. openapi.yaml describes each.
func (s *Server) table() []route {
	const (
		anyone   = service.Role("")
		viewer   = service.RoleViewer
		author   = service.RoleAuthor
		approver = service.RoleApprover
		admin    = service.RoleAdmin
	)
	list := []route{
		{id: "me", method: "GET", path: "/me", role: anyone, read: me},
		{id: "openapi", method: "GET", path: "/openapi.yaml", role: anyone, raw: openapi},
		{id: "health", method: "GET", path: "/health", role: viewer, read: health},
		{id: "policy", method: "GET", path: "/policy", role: viewer, read: policy},
		{id: "listRules", method: "GET", path: "/policy/rules", role: viewer, read: listRules},
		{id: "getRule", method: "GET", path: "/policy/rules/{rule}", role: viewer, read: getRule},
		{id: "runtime", method: "GET", path: "/runtime", role: viewer, read: runtimeFacts},
		{id: "reload", method: "POST", path: "/reload", role: admin, act: reload},
		{id: "events", method: "GET", path: "/events", role: viewer, raw: stream},

		{id: "listTools", method: "GET", path: "/catalog", role: viewer, read: listTools},
		{id: "getTool", method: "GET", path: "/catalog/{tool}", role: viewer, read: getTool},
		{id: runID, method: "POST", path: "/catalog/{tool}/run", role: author, act: runTool},
		{id: "publishTool", method: "POST", path: "/catalog/{tool}/publish", role: author, act: publishTool},
		{id: "draftTool", method: "POST", path: "/catalog/{tool}/draft", role: author, act: draftTool},
		{id: "testTools", method: "POST", path: "/tests", role: author, act: testTools},
		{id: "exposure", method: "GET", path: "/exposure", role: viewer, read: exposure},
		{id: "choose", method: "POST", path: "/exposure", role: admin, act: choose},
		{id: "setApproval", method: "POST", path: "/catalog/{tool}/approval", role: admin, act: setApproval},

		{id: "listDrafts", method: "GET", path: "/drafts", role: author, read: listDrafts},
		{id: "createDraft", method: "POST", path: "/drafts", role: author, act: createDraft},
		{id: "getDraft", method: "GET", path: "/drafts/{id}", role: author, read: getDraft},
		{id: "putDraft", method: "PUT", path: "/drafts/{id}", role: author, act: putDraft},
		{id: "deleteDraft", method: "DELETE", path: "/drafts/{id}", role: author, act: deleteDraft},
		{id: "lint", method: "POST", path: "/lint", role: author, read: lintDocument},

		{id: "listJobs", method: "GET", path: "/jobs", role: viewer, read: listJobs},
		{id: "getJob", method: "GET", path: "/jobs/{id}", role: viewer, read: getJob},
		{id: "cancelJob", method: "POST", path: "/jobs/{id}/cancel", role: author, act: cancelJob},

		{id: "listApprovals", method: "GET", path: "/approvals", role: viewer, read: listApprovals},
		{id: "getApproval", method: "GET", path: "/approvals/{id}", role: viewer, read: getApproval},
		{id: "approve", method: "POST", path: "/approvals/{id}/approve", role: approver, act: answers(service.ActApprove)},
		{id: "deny", method: "POST", path: "/approvals/{id}/deny", role: approver, act: answers(service.ActDeny)},
		{id: "modify", method: "POST", path: "/approvals/{id}/modify", role: approver, act: modify},

		{id: "decide", method: "POST", path: "/decisions", role: viewer, read: decide},

		{id: "listCalls", method: "GET", path: "/audit/calls", role: viewer, read: listCalls},
		{id: "getCall", method: "GET", path: "/audit/calls/{id}", role: viewer, read: getCall},
		{id: "listEvents", method: "GET", path: "/audit/events", role: viewer, read: listEvents},

		{id: "listKeys", method: "GET", path: "/keys", role: admin, read: listKeys},
		{id: "createKey", method: "POST", path: "/keys", role: admin, act: createKey},
		{id: "revokeKey", method: "POST", path: "/keys/{id}/revoke", role: admin, act: revokeKey},
		{id: "rotateKeyring", method: "POST", path: "/keys/rotate", role: admin, act: rotateKeyring},

		{id: "profiles", method: "GET", path: "/debug/pprof/", role: admin, raw: profiles},
	}
	for i := range list {
		list[i].path = base + list[i].path
	}
	return list
}
