# Who may publish.
package toolwarrant.publish_test

import rego.v2

import data.toolwarrant.publish
import data.toolwarrant_test.fixture

_levels := {
	"L0": {},
	"L3": {"fileRead": true},
	"L4": {"fileWrite": true},
	"L5": {"destructive": true},
}

_refusals(level, justification, principal) := {refusal.id | some refusal in refusals} if {
	tool := fixture.tool({"sandboxOverrides": object.union(fixture.no_overrides, _levels[level])})
	refusals := publish.refusals with input as object.union(tool, {
		"publish": {"justification": justification},
		"principal": object.union(tool.principal, principal),
	})
		with data.toolwarrant.settings.publish.trustedAuthors as {"groups": ["trusted-authors"], "subjects": ["uid:1"]}
}

test_publishing[note] if {
	some note, tc in {
		"L0": ["L0", "", {}, set()],
		"L3": ["L3", "", {}, set()],
		"L4 without a word": ["L4", "", {}, {"publish-needs-justification"}],
		"L4 with blanks": ["L4", " \t", {}, {"publish-needs-justification"}],
		"L4 with a reason": ["L4", "writes the report", {}, set()],
		"L5 by anybody": ["L5", "cleans up", {}, {"publish-trusted-authors"}],
		"L5 by anybody without a word": ["L5", "", {}, {"publish-needs-justification", "publish-trusted-authors"}],
		"L5 by the group": ["L5", "cleans up", {"groups": {"staff", "trusted-authors"}}, set()],
		"L5 by name": ["L5", "cleans up", {"subject": "uid:1"}, set()],
		"L5 by name without a word": ["L5", "", {"subject": "uid:1"}, {"publish-needs-justification"}],
	}
	_refusals(tc[0], tc[1], tc[2]) == tc[3]
}

test_the_refusal_says_who_may if {
	tool := fixture.tool({"sandboxOverrides": object.union(fixture.no_overrides, _levels.L5)})
	refusals := publish.refusals with input as object.union(tool, {"publish": {"justification": "x"}})
		with data.toolwarrant.settings.publish.trustedAuthors as {"groups": ["trusted-authors"], "subjects": ["uid:1"]}
	some refusal in refusals
	contains(refusal.message, "a member of trusted-authors or uid:1")
}
