# Who sees and who calls.
package toolwarrant.access_test

import rego.v2

import data.toolwarrant.access
import data.toolwarrant_test.fixture

test_everyone_may_see_and_call if {
	access.visible with input as fixture.plain with data.toolwarrant.settings.access.views as []
	access.callable with input as fixture.plain with data.toolwarrant.settings.access.views as []
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
	seen := access.visible with input as fixture.plain with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.rules as [tc[0]]
	called := access.callable with input as fixture.plain with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.rules as [tc[0]]
	[seen, called] == [tc[1], tc[2]]
	hidden := access.hidden with input as fixture.plain with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.rules as [tc[0]]
	count(hidden) == {true: 0, false: 1}[seen]
}

test_reasons_say_why if {
	reasons := access.reasons with input as fixture.plain with data.toolwarrant.settings.access.views as []
		with data.toolwarrant.settings.access.rules as [{"id": "no-math", "message": "not today", "categories": ["MATH"]}]
	reasons == {{"id": "no-math", "message": "not today", "path": ""}}
}

test_max_risk_level if {
	tested := fixture.overriding({"fileWrite": true})
	access.callable with input as tested with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.maxRiskLevel as "L4"
	not access.callable with input as tested with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.maxRiskLevel as "L3"
	ids := {r.id | some r in access.reasons} with input as tested with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.maxRiskLevel as "L3"
	ids == {"max-risk-level"}
	access.visible with input as tested with data.toolwarrant.settings.access.views as [] with data.toolwarrant.settings.access.maxRiskLevel as "L3"
}

test_applies_where_every_selector_does if {
	access.applies({"tools": ["probe"], "groups": ["staff"]}) with input as fixture.plain
	not access.applies({"tools": ["probe"], "groups": ["guests"]}) with input as fixture.plain
}

# Views: groups and what they see, as an installation would state them.
_example_views := [
	{"groups": ["finance"], "categories": ["DATA"], "tags": ["finance"], "tools": ["getWeather"]},
	{"groups": ["platform", "security"], "tools": ["*"]},
	{"subjects": ["uid:1000"], "categories": ["FILE"]},
	{"tags": ["util"]},
]

_caller(fields) := object.union(fixture.plain.principal, fields)

test_views[note] if {
	some note, tc in {
		"a tag that everyone sees": [{}, {"tags": {"util"}}, true],
		"nothing else": [{}, {"tags": set()}, false],
		"a category of the group": [{"groups": {"finance"}}, {"tags": set(), "category": "DATA"}, true],
		"a tag of the group": [{"groups": {"finance"}}, {"tags": {"finance"}}, true],
		"a name of the group": [{"groups": {"finance"}}, {"tags": set(), "name": "getWeather"}, true],
		"a name of another group": [{"groups": {"sales"}}, {"tags": set(), "name": "getWeather"}, false],
		"an id as a name": [{"groups": {"finance"}}, {"tags": set(), "toolId": "getWeather"}, true],
		"everything": [{"groups": {"security"}}, {"tags": set(), "category": "FILE"}, true],
		"one of several groups": [{"groups": {"sales", "platform"}}, {"tags": set()}, true],
		"a subject": [{"subject": "uid:1000"}, {"tags": set(), "category": "FILE"}, true],
		"another subject": [{"subject": "uid:1001"}, {"tags": set(), "category": "FILE"}, false],
		"groups are compared in full": [{"groups": {"finance-interns"}}, {"tags": {"finance"}}, false],
		"and by case": [{"groups": {"Finance"}}, {"tags": {"finance"}}, false],
		"a star in a name is no wildcard": [{"groups": {"*"}}, {"tags": set()}, false],
	}
	tested := object.union(fixture.tool(tc[1]), {"principal": _caller({"subject": "local"})})
	asked := json.patch(tested, [{"op": "replace", "path": sprintf("/principal/%s", [field]), "value": value} | some field, value in tc[0]])
	seen := access.visible with input as asked with data.toolwarrant.settings.access.views as _example_views
	called := access.callable with input as asked with data.toolwarrant.settings.access.views as _example_views
	in_view := {x | x := access.in_view with input as asked with data.toolwarrant.settings.access.views as _example_views}
	[seen, called] == [tc[2], tc[2]]
	count(in_view) == {true: 1, false: 0}[tc[2]]
}

test_a_view_shows[note] if {
	some note, tc in {
		"nothing without lists": [[{"groups": ["staff"]}], false],
		"nothing with empty lists": [[{"tools": [], "categories": [], "tags": []}], false],
		"everything with a star": [[{"tools": ["*"]}], true],
		"nothing by a star among the categories": [[{"categories": ["*"]}], false],
		"to everyone with empty groups": [[{"groups": [], "subjects": [], "tools": ["probe"]}], true],
	}
	seen := access.visible with input as fixture.plain with data.toolwarrant.settings.access.views as tc[0]
	seen == tc[1]
}

test_a_view_does_not_lift_a_rule if {
	not access.visible with input as fixture.plain
		with data.toolwarrant.settings.access.views as [{"tools": ["*"]}]
		with data.toolwarrant.settings.access.rules as [{"id": "r", "effect": "hide", "tools": ["probe"]}]
}

test_outside_the_views_says_why if {
	reasons := access.reasons with input as fixture.plain with data.toolwarrant.settings.access.views as [{"groups": ["ops"], "tools": ["*"]}]
	{r.id | some r in reasons} == {"access-view"}
}

test_settings_without_views_show_everything if {
	access.visible with input as fixture.plain with data.toolwarrant.settings.access as {"maxRiskLevel": "L5", "rules": []}
}
