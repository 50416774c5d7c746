# What commands are kept in that the code starts; nothing where it may not.
package toolwarrant.effective

import rego.v2

import data.toolwarrant.risk

starts_commands if {
	class := data.toolwarrant.settings.sandbox.class
	some allowed in allow_classes
	matches(allowed, class)
	every denied in deny_classes {
		not matches(denied, class)
	}
}

matches(pattern, name) if pattern == name

matches(pattern, name) if {
	endswith(pattern, ".*")
	startswith(name, trim_suffix(pattern, "*"))
}

sandbox_of := {"sandbox": {
	"image": "",
	"backends": {id | some id in data.toolwarrant.settings.sandbox.levels[risk.level].backends},
	"require": data.toolwarrant.settings.sandbox.levels[risk.level].require,
	"limits": data.toolwarrant.settings.sandbox.limits,
	"allowPartial": false,
	"env": set(),
	"warm": "",
}} if {
	starts_commands
} else := {}
