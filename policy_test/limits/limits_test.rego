# Rates and isolation.
package toolwarrant.limits_test

import rego.v2

import data.toolwarrant.limits
import data.toolwarrant_test.fixture

test_no_rates_by_default if {
	limits.rates == {"ratePerMinute": 0, "concurrency": 0}
}

test_isolation_follows_the_level if {
	limits.isolation == {"minimum": "process"} with input as fixture.overriding({"destructive": true})
		with data.toolwarrant.settings.isolation.L5 as "process"
	limits.isolation == {"minimum": "in-process"} with input as fixture.plain
}
