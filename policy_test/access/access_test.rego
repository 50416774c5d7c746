# Who sees and who calls.
package toolwarrant.access_test

import rego.v2

import data.toolwarrant.access
import data.toolwarrant_test.fixture

test_everyone_may_see_and_call if {
	access.visible with input as fixture.plain
	access.callable with input as fixture.plain
}

test_rules[note] if {
	some note, tc in {
		"no selector matches anything": [{"id": "r"}, false, false],
		"by tool name": [{"id": "r", "tools": ["probe"]}, false, false],
		"by tool id": [{"id": "r", "tools": ["id-1"]}, false, false],
		"by category": [{"id": "r", "categories": ["MATH"]}, false, false],
		"by tag": [{"id": "r", "tags": ["util"]}, false, false],
		"by subject": [{"id": "r", "subjects": ["local"]}, false, false],
		"by group": [{"id": "r", "groups": ["staff"]}, false, false],
		"another tool": [{"id": "r", "tools": ["other"]}, true, true],
		"another group": [{"id": "r", "tools": ["probe"], "groups": ["guests"]}, true, true],
		"deny is seen, not called": [{"id": "r", "effect": "deny"}, true, false],
		"deny by origin": [{"id": "r", "effect": "deny", "origins": ["mcp-http"]}, true, false],
		"deny from another origin": [{"id": "r", "effect": "deny", "origins": ["cli-run"]}, true, true],
		"an unknown effect hides": [{"id": "r", "effect": "perhaps"}, false, false],
	}
	seen := access.visible with input as fixture.plain with data.toolwarrant.settings.access.rules as [tc[0]]
	called := access.callable with input as fixture.plain with data.toolwarrant.settings.access.rules as [tc[0]]
	[seen, called] == [tc[1], tc[2]]
	hidden := access.hidden with input as fixture.plain with data.toolwarrant.settings.access.rules as [tc[0]]
	count(hidden) == {true: 0, false: 1}[seen]
}

test_reasons_say_why if {
	reasons := access.reasons with input as fixture.plain
		with data.toolwarrant.settings.access.rules as [{"id": "no-math", "message": "not today", "categories": ["MATH"]}]
	reasons == {{"id": "no-math", "message": "not today", "path": ""}}
}

test_max_risk_level if {
	tested := fixture.overriding({"fileWrite": true})
	access.callable with input as tested with data.toolwarrant.settings.access.maxRiskLevel as "L4"
	not access.callable with input as tested with data.toolwarrant.settings.access.maxRiskLevel as "L3"
	ids := {r.id | some r in access.reasons} with input as tested with data.toolwarrant.settings.access.maxRiskLevel as "L3"
	ids == {"max-risk-level"}
	access.visible with input as tested with data.toolwarrant.settings.access.maxRiskLevel as "L3"
}

test_applies_where_every_selector_does if {
	access.applies({"tools": ["probe"], "groups": ["staff"]}) with input as fixture.plain
	not access.applies({"tools": ["probe"], "groups": ["guests"]}) with input as fixture.plain
}
