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
# title: Rates that calls share
# description: |
#   principal is of all calls of one caller, whatever the tool; tool is of all
#   calls of one tool, whoever calls. They hold beside the rates of the caller
#   and tool. 0 means no limit, and so does a policy without these settings.
# labels:
#   id: limits-shared
shared := {
	"principal": principal,
	"tool": tool,
}

# METADATA
# title: What one caller may do with all tools together
# labels:
#   id: limits-principal
principal := _share(object.get(data.toolwarrant.settings.limits, "principal", {}))

# METADATA
# title: What all callers together may do with one tool
# labels:
#   id: limits-tool
tool := _share(object.get(data.toolwarrant.settings.limits, "tool", {}))

# METADATA
# title: The rates of a share, of its first rule that matches and states them
# labels:
#   id: limits-share
_share(settings) := {
	"ratePerMinute": _stated(settings, "ratePerMinute"),
	"concurrency": _stated(settings, "concurrency"),
} if {
	count(object.get(settings, "rates", [])) > 0
} else := {
	"ratePerMinute": object.get(settings, "ratePerMinute", 0),
	"concurrency": object.get(settings, "concurrency", 0),
}

# METADATA
# title: One value of a share
# labels:
#   id: limits-stated
_stated(settings, name) := stated[0] if {
	stated := [rule[name] |
		some rule in settings.rates
		is_number(rule[name])
		access.applies(rule)
	]
} else := object.get(settings, name, 0)

# METADATA
# title: The weakest isolation that the call may run under
# labels:
#   id: limits-isolation
isolation := {"minimum": data.toolwarrant.settings.isolation[risk.level]}
