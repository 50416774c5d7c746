# METADATA
# title: Limits
# description: Rates that the server holds, and the weakest isolation for a level.
package toolwarrant.limits

import rego.v2

import data.toolwarrant.access
import data.toolwarrant.risk

# METADATA
# title: Rates
# description: |
#   0 means no limit. Of settings.limits.rates the first one counts that
#   matches and states the value; what none states is that of everybody.
# labels:
#   id: limits-rates
rates := {
	"ratePerMinute": _rate("ratePerMinute"),
	"concurrency": _rate("concurrency"),
} if {
	count(data.toolwarrant.settings.limits.rates) > 0
} else := {
	"ratePerMinute": settings.ratePerMinute,
	"concurrency": settings.concurrency,
} if {
	settings := data.toolwarrant.settings.limits
}

# METADATA
# title: One rate for this caller and tool
# labels:
#   id: limits-rate
_rate(name) := stated[0] if {
	stated := [rule[name] |
		some rule in data.toolwarrant.settings.limits.rates
		is_number(rule[name])
		access.applies(rule)
	]
} else := data.toolwarrant.settings.limits[name]

# METADATA
# title: The weakest isolation that the call may run under
# labels:
#   id: limits-isolation
isolation := {"minimum": data.toolwarrant.settings.isolation[risk.level]}
