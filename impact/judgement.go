package impact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/decision"
)

// limitDimensions are what the server enforces around a call.
var limitDimensions = []dimension{
	rate("limits.ratePerMinute", func(d *decision.Decision) int64 { return d.Limits.RatePerMinute },
		func(n int64) decision.Limits { return decision.Limits{RatePerMinute: n} }),
	rate("limits.concurrency", func(d *decision.Decision) int64 { return d.Limits.Concurrency },
		func(n int64) decision.Limits { return decision.Limits{Concurrency: n} }),
	rate("limits.principal.ratePerMinute", func(d *decision.Decision) int64 { return d.Limits.Principal.RatePerMinute }, only),
	rate("limits.principal.concurrency", func(d *decision.Decision) int64 { return d.Limits.Principal.Concurrency }, only),
	rate("limits.tool.ratePerMinute", func(d *decision.Decision) int64 { return d.Limits.Tool.RatePerMinute }, only),
	rate("limits.tool.concurrency", func(d *decision.Decision) int64 { return d.Limits.Tool.Concurrency }, only),
	{
		path:  "isolation.minimum",
		value: func(d *decision.Decision) any { return d.Isolation.Minimum },
		within: func(a, b *decision.Decision) bool {
			ra, _ := a.Isolation.Rank()
			rb, _ := b.Isolation.Rank()
			return ra >= rb
		},
	},
}

// only is a limit of that number and no other: every limit is compared alike.
func only(n int64) decision.Limits { return decision.Limits{RatePerMinute: n} }

func rate(path string, get func(*decision.Decision) int64, only func(int64) decision.Limits) dimension {
	return dimension{
		path:  path,
		value: func(d *decision.Decision) any { return get(d) },
		within: func(a, b *decision.Decision) bool {
			_, ok := only(get(a)).Within(only(get(b)))
			return ok
		},
	}
}

// asked is true where a person has to agree: elsewhere, who and how long says
// nothing.
func asked(d *decision.Decision) bool { return d.HumanInTheLoop.Required() }

// The paths of whether somebody is asked, and, before a dot, of who may answer.
const (
	approvalMode = "humanInTheLoop.mode"
	approvers    = "humanInTheLoop.approvers."
)

// judgementDimensions are how a call is judged: the level, who has to agree,
// what the log leaves out.
//
// A higher level is the stricter judgement. But a level also follows from the
// grants, up with more and down with less; then the grants are the news.
var judgementDimensions = []dimension{
	{
		path:    "riskLevel",
		value:   func(d *decision.Decision) any { return d.RiskLevel },
		within:  func(a, b *decision.Decision) bool { return a.RiskLevel >= b.RiskLevel },
		follows: true,
	},
	{
		path:   approvalMode,
		value:  func(d *decision.Decision) any { return d.HumanInTheLoop.Mode },
		within: func(a, b *decision.Decision) bool { return asked(a) || !asked(b) },
	},
	plain("humanInTheLoop.source", func(d *decision.Decision) any { return d.HumanInTheLoop.Source }),
	plain("humanInTheLoop.ruleId", func(d *decision.Decision) any { return d.HumanInTheLoop.RuleID }),
	plain("humanInTheLoop.autoApproved", func(d *decision.Decision) any { return d.HumanInTheLoop.AutoApproved }),
	{
		path:    approvers + "groups",
		value:   func(d *decision.Decision) any { return d.HumanInTheLoop.Approvers.Groups },
		applies: asked,
		within: func(a, b *decision.Decision) bool {
			return groupsWithin(a.HumanInTheLoop.Approvers.Groups, b.HumanInTheLoop.Approvers.Groups)
		},
		list: &list{
			get: func(d *decision.Decision) []string { return d.HumanInTheLoop.Approvers.Groups },
			with: func(_ *decision.Decision, e []string) *decision.Decision {
				return &decision.Decision{HumanInTheLoop: decision.HumanInTheLoop{Approvers: decision.Approvers{Groups: e}}}
			},
		},
	},
	{
		path:    approvers + "fourEyes",
		value:   func(d *decision.Decision) any { return d.HumanInTheLoop.Approvers.FourEyes },
		applies: asked,
		within: func(a, b *decision.Decision) bool {
			return a.HumanInTheLoop.Approvers.FourEyes || !b.HumanInTheLoop.Approvers.FourEyes
		},
	},
	patience("humanInTheLoop.expirySeconds", func(d *decision.Decision) int64 { return d.HumanInTheLoop.ExpirySeconds }),
	patience("humanInTheLoop.outOfBandExpirySeconds", func(d *decision.Decision) int64 { return d.HumanInTheLoop.OutOfBandExpirySeconds }),
	plain("humanInTheLoop.channels", func(d *decision.Decision) any { return d.HumanInTheLoop.Channels }).when(asked),
	plain("humanInTheLoop.prompt", func(d *decision.Decision) any { return d.HumanInTheLoop.Prompt }).when(asked),
	{
		path:   "mask", // what the log does not show of the arguments
		value:  func(d *decision.Decision) any { return hidden(d) },
		within: hidesAsMuch,
		list:   &list{get: hidden, with: hiding, denies: true},
	},
	{
		path:  "record.drop", // what it leaves out of the record
		value: func(d *decision.Decision) any { return d.Record.Drop },
		within: func(a, b *decision.Decision) bool {
			return !slices.ContainsFunc(b.Record.Drop, func(f string) bool { return !slices.Contains(a.Record.Drop, f) })
		},
		list: &list{
			get: func(d *decision.Decision) []string { return d.Record.Drop },
			with: func(_ *decision.Decision, e []string) *decision.Decision {
				return &decision.Decision{Record: decision.Record{Drop: e}}
			},
			denies: true,
		},
	},
	{
		path:  "record.result",
		value: func(d *decision.Decision) any { return cmp.Or(d.Record.Result, "digest") },
		within: func(a, b *decision.Decision) bool {
			return a.Record.Result != decision.ResultContent || b.Record.Result == decision.ResultContent
		},
	},
	plain("profileChain", func(d *decision.Decision) any { return d.ProfileChain }),
}

// plain makes a dimension that permits nothing by itself.
func plain(path string, value func(*decision.Decision) any) dimension {
	return dimension{path: path, value: value}
}

// patience: a question that stays open longer can be agreed to for longer.
func patience(path string, get func(*decision.Decision) int64) dimension {
	return dimension{
		path:    path,
		value:   func(d *decision.Decision) any { return get(d) },
		applies: asked,
		within:  func(a, b *decision.Decision) bool { return get(a) <= get(b) },
	}
}

// groupsWithin: without groups, anybody may agree.
func groupsWithin(a, b []string) bool {
	if len(b) == 0 || len(a) == 0 {
		return len(b) == 0
	}
	return !slices.ContainsFunc(a, func(g string) bool { return !slices.Contains(b, g) })
}

// hidden are the pointers of the arguments that the log does not show; behind
// each that is not masked stands its form.
func hidden(d *decision.Decision) []string {
	forms := d.Hidden()
	var out []string
	for _, pointer := range slices.Sorted(maps.Keys(forms)) {
		if f := forms[pointer]; f != decision.FormMask {
			pointer += " (" + string(f) + ")"
		}
		out = append(out, pointer)
	}
	return out
}

// hiding is a decision that hides entries of hidden.
func hiding(_ *decision.Decision, entries []string) *decision.Decision {
	how := map[string]decision.Form{}
	for _, e := range entries {
		pointer, form := e, decision.FormMask
		for _, f := range decision.Forms {
			if p, ok := strings.CutSuffix(e, " ("+string(f)+")"); ok {
				pointer, form = p, f
			}
		}
		how[pointer] = form
	}
	return &decision.Decision{Record: decision.Record{How: how}}
}

func hidesAsMuch(a, b *decision.Decision) bool {
	by := a.Hidden()
	for pointer, form := range b.Hidden() {
		if !by[pointer].AtLeast(form) {
			return false
		}
	}
	return true
}
