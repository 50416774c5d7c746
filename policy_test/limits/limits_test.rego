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
