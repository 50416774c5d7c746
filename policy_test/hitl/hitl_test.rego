# Who has to agree.
package toolwarrant.hitl_test

import rego.v2

import data.toolwarrant.hitl
import data.toolwarrant_test.fixture

_levels := {
	"L0": {},
	"L3": {"fileRead": true},
	"L4": {"fileWrite": true},
	"L5": {"destructive": true},
}

_at(level, block) := fixture.tool({
	"sandboxOverrides": object.union(fixture.no_overrides, _levels[level]),
	"humanInTheLoop": block,
})

test_verdicts[note] if {
	some note, tc in {
		"absent at L0": ["L0", {}, "DISABLED", "default", "hitl-default", false],
		"absent at L3": ["L3", {}, "REQUIRED", "default", "hitl-default", false],
		"absent at L4": ["L4", {}, "REQUIRED", "default", "hitl-default", false],
		"absent at L5": ["L5", {}, "REQUIRED", "default", "hitl-default", false],
		"required at L0": ["L0", {"mode": "REQUIRED"}, "REQUIRED", "spec", "hitl-required", false],
		"required at L5": ["L5", {"mode": "REQUIRED"}, "REQUIRED", "spec", "hitl-required", false],
		"disabled at L0": ["L0", {"mode": "DISABLED"}, "DISABLED", "spec", "hitl-disabled", false],
		"disabled at L4": ["L4", {"mode": "DISABLED"}, "DISABLED", "spec", "hitl-disabled", false],
		"disabled at the floor": ["L5", {"mode": "DISABLED"}, "REQUIRED", "floor", "hitl-floor", false],
		"auto at L0": ["L0", {"mode": "AUTO_APPROVE"}, "DISABLED", "spec", "hitl-auto-approve", true],
		"auto at the threshold": ["L3", {"mode": "AUTO_APPROVE"}, "REQUIRED", "threshold", "hitl-threshold", false],
		"auto above": ["L5", {"mode": "AUTO_APPROVE"}, "REQUIRED", "threshold", "hitl-threshold", false],
		"unknown": ["L0", {"mode": "ASK_NICELY"}, "REQUIRED", "rule", "hitl-unknown-mode", false],
		"lower case is unknown": ["L0", {"mode": "disabled"}, "REQUIRED", "rule", "hitl-unknown-mode", false],
	}
	verdict := hitl.verdict with input as _at(tc[0], tc[1])
	verdict == {"mode": tc[2], "source": tc[3], "ruleId": tc[4], "autoApproved": tc[5]}
}

test_floor_below_the_threshold if {
	verdict := hitl.verdict with input as _at("L3", {"mode": "AUTO_APPROVE"})
		with data.toolwarrant.settings.hitl.threshold as "L5"
		with data.toolwarrant.settings.hitl.floor as "L3"
	verdict.mode == "REQUIRED"
	verdict.source == "floor"
}

test_operator_requires[note] if {
	some note, settings in {
		"by name": {"requiredTools": {"probe"}, "requiredCategories": set()},
		"by id": {"requiredTools": {"id-1"}, "requiredCategories": set()},
		"by category": {"requiredTools": set(), "requiredCategories": {"MATH"}},
	}
	verdict := hitl.verdict with input as _at("L0", {"mode": "DISABLED"})
		with data.toolwarrant.settings.hitl.requiredTools as settings.requiredTools
		with data.toolwarrant.settings.hitl.requiredCategories as settings.requiredCategories
	verdict == {"mode": "REQUIRED", "source": "rule", "ruleId": "hitl-operator-rule", "autoApproved": false}
}

test_prompt[note] if {
	some note, tc in {
		"default": [{}, "[risk L0] Run '{toolName}' with arguments {args}?"],
		"of the tool": [{"promptTemplate": "Sure?"}, "[risk L0] Sure?"],
		"blank": [{"promptTemplate": " \t"}, "[risk L0] Run '{toolName}' with arguments {args}?"],
	}
	prompt := hitl.prompt with input as _at("L0", tc[0])
	prompt == tc[1]
}

test_requirement_is_complete if {
	requirement := hitl.requirement with input as fixture.plain
	object.keys(requirement) == {
		"mode", "source", "ruleId", "autoApproved", "prompt",
		"channels", "approvers", "expirySeconds", "outOfBandExpirySeconds",
	}
	requirement.channels == ["input_required", "elicitation", "terminal", "out_of_band"]
	requirement.expirySeconds == 120
	requirement.outOfBandExpirySeconds == 900
}

test_a_demand_asks_whatever_the_mode_says if {
	demanded := {{"id": "b-rule", "fourEyes": false}, {"id": "a-rule", "fourEyes": true}}
	requirement := hitl.requirement with input as _at("L0", {"mode": "DISABLED"})
		with hitl.demands as demanded
	requirement.mode == "REQUIRED"
	requirement.source == "rule"
	requirement.ruleId == "a-rule"
	hitl.approvers == requirement.approvers with hitl.demands as demanded
	requirement.approvers == {"groups": [], "fourEyes": true}
}

test_a_demand_without_four_eyes_keeps_the_approvers if {
	requirement := hitl.requirement with input as _at("L0", {"mode": "DISABLED"})
		with hitl.demands as {{"id": "a-rule", "fourEyes": false}}
		with data.toolwarrant.settings.hitl.approvers as {"groups": ["leads"], "fourEyes": false}
	requirement.mode == "REQUIRED"
	requirement.approvers == {"groups": ["leads"], "fourEyes": false}
}

test_the_verdict_in_words[note] if {
	some note, tc in {
		"absent at L0": ["L0", {}, "from L1 on (hitl.defaultFrom); the level is L0"],
		"absent at L3": ["L3", {}, "from L1 on (hitl.defaultFrom) a human is asked; the level is L3"],
		"required": ["L0", {"mode": "REQUIRED"}, "says REQUIRED"],
		"disabled": ["L4", {"mode": "DISABLED"}, "the level L4 is below L5 (hitl.floor)"],
		"disabled at the floor": ["L5", {"mode": "DISABLED"}, "the level is L5, and from L5 on (hitl.floor)"],
		"auto": ["L0", {"mode": "AUTO_APPROVE"}, "the level L0 is below L3 (hitl.threshold)"],
		"auto at the threshold": ["L3", {"mode": "AUTO_APPROVE"}, "from L3 on (hitl.threshold) asks, and the level is L3"],
		"unknown": ["L0", {"mode": "ASK"}, "says \"ASK\""],
	}
	words := hitl.explanation with input as _at(tc[0], tc[1])
	contains(words.because, tc[2])
	words.demands == set()
}

test_a_demand_in_words if {
	words := hitl.explanation with input as _at("L0", {})
		with data.toolwarrant.settings.hitl.requiredTools as {"probe"}
	contains(words.because, "the rule hitl-operator-rule demands")
	words.demands == {"hitl-operator-rule"}
}

test_because_names_the_document if {
	hitl.because == "the document says REQUIRED" with input as _at("L0", {"mode": "REQUIRED"})
}

test_a_demand_that_is_not_written_as_one_gives_no_verdict[note] if {
	some note, demand in {
		"a text": "site-ask",
		"without an id": {"fourEyes": true},
		"another spelling of id": {"ID": "site-ask", "fourEyes": true},
		"another spelling of fourEyes": {"id": "site-ask", "foureyes": true},
		"without fourEyes": {"id": "site-ask"},
		"an id that is a number": {"id": 7, "fourEyes": true},
		"fourEyes that is a text": {"id": "site-ask", "fourEyes": "true"},
		"a member more": {"id": "site-ask", "fourEyes": true, "groups": []},
	}
	not hitl.verdict with input as _at("L0", {}) with hitl.demands as {{"id": "other", "fourEyes": false}, demand}
	not hitl.requirement with input as _at("L5", {}) with hitl.demands as {demand}
}

test_the_first_demand_by_id_is_named if {
	verdict := hitl.verdict with input as _at("L0", {}) with hitl.demands as {{"id": "b", "fourEyes": false}, {"id": "a", "fourEyes": true}}
	verdict == {"mode": "REQUIRED", "source": "rule", "ruleId": "a", "autoApproved": false}
}

_standing(mode) := [{"kind": "standing", "mode": mode}]

test_what_the_installation_says[note] if {
	some note, tc in {
		"disabled below the floor": ["L4", {"mode": "REQUIRED"}, "DISABLED", "DISABLED", "rule", "hitl-installation", false],
		"disabled at the floor": ["L5", {"mode": "DISABLED"}, "DISABLED", "REQUIRED", "floor", "hitl-floor", false],
		"auto below the threshold": ["L0", {"mode": "REQUIRED"}, "AUTO_APPROVE", "DISABLED", "rule", "hitl-installation", true],
		"auto at the threshold": ["L3", {"mode": "DISABLED"}, "AUTO_APPROVE", "REQUIRED", "threshold", "hitl-threshold", false],
		"auto at the floor": ["L5", {}, "AUTO_APPROVE", "REQUIRED", "threshold", "hitl-threshold", false],
		"required at L0": ["L0", {"mode": "DISABLED"}, "REQUIRED", "REQUIRED", "rule", "hitl-installation", false],
		"a mode that is none": ["L0", {"mode": "DISABLED"}, "MAYBE", "REQUIRED", "rule", "hitl-unknown-mode", false],
		"an empty mode": ["L0", {"mode": "DISABLED"}, "", "REQUIRED", "rule", "hitl-unknown-mode", false],
	}
	tested := object.union(_at(tc[0], tc[1]), {"approvals": _standing(tc[2])})
	requirement := hitl.requirement with input as tested
	document := hitl.document_requirement with input as tested
	verdict := {"mode": tc[3], "source": tc[4], "ruleId": tc[5], "autoApproved": tc[6]}
	requirement == object.union(document, verdict)
}

test_a_demand_goes_before_what_the_installation_says if {
	requirement := hitl.requirement with input as object.union(_at("L0", {}), {"approvals": _standing("DISABLED")})
		with data.toolwarrant.settings.hitl.requiredTools as {"probe"}
	requirement.mode == "REQUIRED"
	requirement.ruleId == "hitl-operator-rule"
}

test_a_malformed_demand_is_not_covered_by_what_the_installation_says if {
	tested := object.union(_at("L0", {}), {"approvals": _standing("DISABLED")})
	hitl.standing == "DISABLED" with input as tested
	hitl.standing_verdict == {} with input as tested with hitl.demands as {"site-ask"}
	not hitl.requirement with input as tested with hitl.demands as {"site-ask"}
}

test_other_approvals_say_nothing_about_the_mode[note] if {
	some note, approvals in {
		"another kind": [{"kind": "earlier", "mode": "DISABLED"}],
		"no kind": [{"mode": "DISABLED"}],
		"a text": ["DISABLED"],
	}
	tested := object.union(_at("L4", {"mode": "REQUIRED"}), {"approvals": approvals})
	requirement := hitl.requirement with input as tested
	requirement.ruleId == "hitl-required"
}

test_what_the_installation_says_without_a_mode_requires if {
	requirement := hitl.requirement with input as object.union(_at("L0", {}), {"approvals": [{"kind": "standing"}]})
	requirement.mode == "REQUIRED"
}

test_what_the_installation_says_in_words[note] if {
	some note, tc in {
		"disabled": ["L4", "DISABLED", "this installation says DISABLED for the tool"],
		"required": ["L0", "REQUIRED", "this installation says REQUIRED for the tool"],
		"the floor": ["L5", "DISABLED", "the level is L5, and from L5 on (hitl.floor)"],
		"the threshold": ["L3", "AUTO_APPROVE", "this installation says AUTO_APPROVE, which from L3 on"],
		"unknown": ["L0", "MAYBE", "this installation says \"MAYBE\""],
	}
	words := hitl.explanation with input as object.union(_at(tc[0], {"mode": "REQUIRED"}), {"approvals": _standing(tc[1])})
	contains(words.because, tc[2])
}
