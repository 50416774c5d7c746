# Rates, isolation, and the arguments that the record masks.
package toolwarrant.limits

import rego.v2

import data.toolwarrant.risk

rates := {
	"ratePerMinute": data.toolwarrant.settings.limits.ratePerMinute,
	"concurrency": data.toolwarrant.settings.limits.concurrency,
}

isolation := {"minimum": data.toolwarrant.settings.isolation[risk.level]}

mask contains pointer if {
	some name in input.tool.params
	name in input.tool.maskParams
	pointer := concat("", ["/", replace(replace(name, "~", "~0"), "/", "~1")])
}

mask contains pointer if {
	some name in input.tool.params
	name in data.toolwarrant.settings.log.maskParams
	pointer := concat("", ["/", replace(replace(name, "~", "~0"), "/", "~1")])
}
