# Rates, isolation, and what the record does not show.
package toolwarrant.limits

import rego.v2

import data.toolwarrant.risk

rates := {
	"ratePerMinute": data.toolwarrant.settings.limits.ratePerMinute,
	"concurrency": data.toolwarrant.settings.limits.concurrency,
	"principal": share("principal"),
	"tool": share("tool"),
}

share(name) := object.remove(
	object.union(
		{"ratePerMinute": 0, "concurrency": 0},
		object.get(data.toolwarrant.settings.limits, name, {}),
	),
	["rates"],
)

isolation := {"minimum": data.toolwarrant.settings.isolation[risk.level]}

hidden contains {"name": name, "form": "mask"} if {
	some name in input.tool.maskParams
	not input.tool.maskForms[name]
}

hidden contains {"name": name, "form": form} if {
	some name, form in input.tool.maskForms
}

hidden contains {"name": name, "form": "mask"} if {
	is_array(data.toolwarrant.settings.log.maskParams)
	some name in data.toolwarrant.settings.log.maskParams
}

hidden contains {"name": name, "form": form} if {
	is_object(data.toolwarrant.settings.log.maskParams)
	some name, form in data.toolwarrant.settings.log.maskParams
}

asked(name, form) if {"name": name, "form": form} in hidden

form_of(name) := "drop" if asked(name, "drop")

form_of(name) := "mask" if {
	asked(name, "mask")
	not asked(name, "drop")
}

form_of(name) := "hmac" if {
	asked(name, "hmac")
	not asked(name, "mask")
	not asked(name, "drop")
}

form_of(name) := "hash" if {
	asked(name, "hash")
	not asked(name, "hmac")
	not asked(name, "mask")
	not asked(name, "drop")
}

how[pointer] := form if {
	some name in input.tool.params
	form := form_of(name)
	pointer := concat("", ["/", replace(replace(name, "~", "~0"), "/", "~1")])
}

mask contains pointer if how[pointer] in {"drop", "mask"}

drop contains pointer if some pointer in data.toolwarrant.settings.log.dropFields

default result := "digest"

result := "content" if input.tool.name in data.toolwarrant.settings.log.resultContent

result := "content" if input.tool.toolId in data.toolwarrant.settings.log.resultContent

result := "content" if input.tool.category in data.toolwarrant.settings.log.resultContent

record := {"how": how, "drop": drop, "result": result}
