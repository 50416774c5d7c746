# Rates and isolation.
package toolwarrant.limits_test

import rego.v2

import data.toolwarrant.limits
import data.toolwarrant_test.fixture

test_no_rates_by_default if {
	limits.rates == {"ratePerMinute": 0, "concurrency": 0}
}

_rules := [
	{"groups": ["guests"], "ratePerMinute": 2},
	{"subjects": ["robot"], "tools": ["probe"], "ratePerMinute": 600, "concurrency": 4},
	{"categories": ["MATH"], "concurrency": 1},
	{"groups": ["staff"], "ratePerMinute": 0},
]

test_rates_of_some[note] if {
	some note, tc in {
		"a guest": [{"subject": "g", "groups": {"guests"}}, {}, [2, 1]],
		"a guest of the staff": [{"subject": "g", "groups": {"guests", "staff"}}, {}, [2, 1]],
		"of the staff, lifted": [{"subject": "s", "groups": {"staff"}}, {}, [0, 1]],
		"the robot": [{"subject": "robot", "groups": set()}, {}, [600, 4]],
		"the robot with another tool": [{"subject": "robot", "groups": set()}, {"name": "other"}, [30, 1]],
		"nobody special": [{"subject": "x", "groups": set()}, {"category": "TEXT"}, [30, 9]],
	}
	asked := object.union(fixture.tool(tc[1]), {"principal": object.union(
		object.remove(fixture.plain.principal, ["groups"]),
		tc[0],
	)})
	rates := limits.rates with input as asked
		with data.toolwarrant.settings.limits.rates as _rules
		with data.toolwarrant.settings.limits.ratePerMinute as 30
		with data.toolwarrant.settings.limits.concurrency as 9
	rates == {"ratePerMinute": tc[2][0], "concurrency": tc[2][1]}
}

test_rates_of_settings_without_rules if {
	rates := limits.rates with data.toolwarrant.settings.limits as {"ratePerMinute": 3, "concurrency": 4}
	rates == {"ratePerMinute": 3, "concurrency": 4}
}

test_isolation_follows_the_level if {
	limits.isolation == {"minimum": "process"} with input as fixture.overriding({"destructive": true})
		with data.toolwarrant.settings.isolation.L5 as "process"
	limits.isolation == {"minimum": "in-process"} with input as fixture.plain
}

test_nothing_is_shared_by_default if {
	none := {"ratePerMinute": 0, "concurrency": 0}
	limits.shared == {"principal": none, "tool": none} with input as fixture.plain
}

test_nothing_is_shared_by_settings_without_it if {
	none := {"ratePerMinute": 0, "concurrency": 0}
	limits.shared == {"principal": none, "tool": none} with input as fixture.plain
		with data.toolwarrant.settings.limits as {"ratePerMinute": 3, "concurrency": 4}
}

_limits := data.toolwarrant.settings.limits

_of_callers := {
	"ratePerMinute": 60, "concurrency": 8,
	"rates": [
		{"groups": ["guests"], "ratePerMinute": 6},
		{"subjects": ["robot"], "ratePerMinute": 0, "concurrency": 32},
	],
}

test_shared_by_the_calls_of_a_caller[note] if {
	some note, tc in {
		"a guest": [{"subject": "g", "groups": {"guests"}}, [6, 8]],
		"the robot, without a rate": [{"subject": "robot", "groups": set()}, [0, 32]],
		"the robot as a guest": [{"subject": "robot", "groups": {"guests"}}, [6, 32]],
		"nobody special": [{"subject": "x", "groups": set()}, [60, 8]],
	}
	asked := object.union(fixture.plain, {"principal": object.union(
		object.remove(fixture.plain.principal, ["groups"]),
		tc[0],
	)})
	limits.principal == {"ratePerMinute": tc[1][0], "concurrency": tc[1][1]} with input as asked
		with data.toolwarrant.settings.limits as object.union(_limits, {"principal": _of_callers})
}

_of_tools := {
	"ratePerMinute": 600, "concurrency": 0,
	"rates": [
		{"tools": ["probe"], "concurrency": 1},
		{"categories": ["WEB"], "ratePerMinute": 30, "concurrency": 4},
	],
}

test_shared_by_the_callers_of_a_tool[note] if {
	some note, tc in {
		"named": [{"name": "probe", "category": "TEXT"}, [600, 1]],
		"named, of a category": [{"name": "probe", "category": "WEB"}, [30, 1]],
		"of a category": [{"name": "other", "category": "WEB"}, [30, 4]],
		"no tool of note": [{"name": "other", "category": "TEXT"}, [600, 0]],
	}
	limits.tool == {"ratePerMinute": tc[1][0], "concurrency": tc[1][1]} with input as fixture.tool(tc[0])
		with data.toolwarrant.settings.limits as object.union(_limits, {"tool": _of_tools})
}
