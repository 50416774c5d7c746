package admin

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/resolver"
	"github.com/toolwarrant/toolwarrant/service"
)

// origins are the doors that a question may name.
var origins = []decision.Origin{
	decision.OriginMCPHTTP, decision.OriginMCPStdio, decision.OriginCLIRun, decision.OriginCLITest, decision.OriginAdmin, decision.OriginStudio,
	decision.OriginList, decision.OriginLint,
}

// decide asks the policy without calling anything, as "toolwarrant resolve"
// does. It leaves no record: nothing happened.
func decide(c *call) (answer, error) {
	var in struct {
		Tool      string              `json:"tool"`     // name or toolId, or
		Document  json.RawMessage     `json:"document"` // one that is in no catalog
		Args      json.RawMessage     `json:"args"`
		Principal *decision.Principal `json:"principal"` // the sender
		Origin    decision.Origin     `json:"origin"`    // admin
		Explain   bool                `json:"explain"`
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	s := c.s.opt.Service
	var t *catalog.Tool
	switch {
	case (in.Tool == "") == (in.Document == nil):
		return answer{}, fault.New(fault.Usage, "bad-value", "name a tool, or give a document, and not both")
	case in.Tool != "":
		var err error
		if t, err = s.ToolFor(c.ctx(), c.who, in.Tool); err != nil {
			return answer{}, err
		}
	default:
		if err := s.Needs(c.who, service.RoleAuthor); err != nil {
			return answer{}, err
		}
		doc, wrong := service.ReadDocument(in.Document)
		if len(wrong) > 0 {
			return answer{}, wrong[0]
		}
		t = &catalog.Tool{Spec: doc, Source: catalog.SourceUser, State: catalog.StateDraft}
	}
	who := c.who
	if in.Principal != nil {
		if who = *in.Principal; who.Subject == "" {
			return answer{}, fault.New(fault.Usage, "bad-value", "the principal has no subject").At("", "/principal/subject", 0, 0)
		}
		if who.Groups == nil {
			who.Groups = []string{}
		}
		if who.Scopes == nil {
			who.Scopes = []string{}
		}
	}
	if in.Origin == "" {
		in.Origin = decision.OriginAdmin
	}
	if !slices.Contains(origins, in.Origin) {
		names := make([]string, len(origins))
		for i, o := range origins {
			names[i] = string(o)
		}
		return answer{}, fault.New(fault.Usage, "origin", "origin is one of %s", strings.Join(names, ", ")).At("", "/origin", 0, 0)
	}
	args := in.Args
	if args != nil {
		valid, ferr := t.Spec.Args(args)
		if ferr != nil {
			return answer{}, ferr
		}
		args = valid
	}
	return c.decided(t, resolver.Request{
		Tool: service.PolicyTool(t), Principal: who, Origin: in.Origin, Args: args, Now: time.Now(),
	}, in.Explain)
}

func (c *call) decided(t *catalog.Tool, req resolver.Request, explain bool) (answer, error) {
	s := c.s.opt.Service
	body := struct {
		Decision    *decision.Decision    `json:"decision"` // null where the layers reject the document
		Visible     bool                  `json:"visible"`
		Error       *fault.Error          `json:"error"` // the rejection, or null
		Explanation *resolver.Explanation `json:"explanation"`
	}{}
	var err error
	if body.Visible, err = s.MaySeeCalling(c.ctx(), req.Principal, t); err != nil {
		return answer{}, err
	}
	if explain {
		body.Explanation, err = s.Policy.Explain(c.ctx(), req)
		if body.Explanation != nil {
			body.Decision = body.Explanation.Decision
		}
	} else {
		body.Decision, err = s.Policy.Resolve(c.ctx(), req)
	}
	if err != nil {
		f := fault.From(err)
		if f.Code != fault.ResolverReject {
			return answer{}, err
		}
		shown := *f
		shown.File = ""
		body.Error, body.Decision = &shown, nil
		return answer{status: statusOf(f), body: body}, nil
	}
	return answer{body: body}, nil
}
