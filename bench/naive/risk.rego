# How dangerous a tool is: the highest level of all signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

default level := "L0"

level := max([signal.level | some signal in signals]) if count(signals) > 0

plain(id) := {
	"id": id,
	"level": data.toolwarrant.settings.risk.signals[id].level,
	"message": data.toolwarrant.settings.risk.signals[id].message,
}

naming(id, names) := {
	"id": id,
	"level": data.toolwarrant.settings.risk.signals[id].level,
	"message": sprintf("%s: %s", [data.toolwarrant.settings.risk.signals[id].message, concat(", ", names)]),
}

# Network.

signals contains naming("network-allowlist", effective.hosts) if {
	effective.network_mode == "allowlist"
	count(effective.hosts) > 0
}

signals contains plain("network-allowlist") if {
	effective.network_mode == "allowlist"
	count(effective.hosts) == 0
}

signals contains plain("network-wildcard") if "*" in effective.hosts

signals contains plain("network-wildcard") if {
	some host in effective.hosts
	startswith(host, "*:")
}

signals contains naming("network-private", effective.private_hosts) if count(effective.private_hosts) > 0

signals contains plain("network-strict") if effective.network_mode == "strict"

signals contains plain("network-open") if effective.network_mode == "open"

# Files.

signals contains plain("file-read") if {
	effective.file_read
	not effective.file_write
}

signals contains plain("file-write") if effective.file_write

signals contains plain("destructive") if input.tool.sandboxOverrides.destructive

# Denies that the tool lifts.

signals contains naming("deny-removed", effective.removed_denies) if {
	count(effective.removed_denies) > 0
	count(effective.removed_denies) < data.toolwarrant.settings.risk.removedMany
}

signals contains naming("deny-removed-many", effective.removed_denies) if {
	count(effective.removed_denies) > 0
	count(effective.removed_denies) >= data.toolwarrant.settings.risk.removedMany
}

signals contains naming("deny-removed-reflection", of_kind("reflection", effective.removed_denies)) if {
	count(of_kind("reflection", effective.removed_denies)) > 0
}

signals contains naming("deny-removed-critical", of_kind("critical", effective.removed_denies)) if {
	count(of_kind("critical", effective.removed_denies)) > 0
}

# Classes beyond the baseline.

signals contains naming("allow-critical", of_kind("critical", effective.added_allows)) if {
	count(of_kind("critical", effective.added_allows)) > 0
}

signals contains naming("allow-file-write", of_kind("file-write", effective.added_allows)) if {
	count(of_kind("file-write", effective.added_allows)) > 0
}

signals contains naming("allow-reflection", of_kind("reflection", effective.added_allows)) if {
	count(of_kind("reflection", effective.added_allows)) > 0
}

signals contains naming("allow-network", of_kind("network", effective.added_allows)) if {
	count(of_kind("network", effective.added_allows)) > 0
}

signals contains naming("allow-file-read", of_kind("file-read", effective.added_allows)) if {
	count(of_kind("file-read", effective.added_allows)) > 0
}

signals contains naming("allow-other", other_allows) if count(other_allows) > 0

other_allows contains class if {
	some class in effective.added_allows
	not known(class)
}

known(class) if {
	some kind, _ in data.toolwarrant.settings.classes
	is_of_kind(kind, class)
}

of_kind(kind, classes) := {class |
	some class in classes
	is_of_kind(kind, class)
}

is_of_kind(kind, class) if class in data.toolwarrant.settings.classes[kind].exact

is_of_kind(kind, class) if {
	some prefix in data.toolwarrant.settings.classes[kind].prefix
	startswith(class, prefix)
}

is_of_kind(kind, class) if {
	endswith(class, "*")
	some name in data.toolwarrant.settings.classes[kind].exact
	startswith(name, trim_suffix(class, "*"))
}

is_of_kind(kind, class) if {
	endswith(class, "*")
	some prefix in data.toolwarrant.settings.classes[kind].prefix
	startswith(prefix, trim_suffix(class, "*"))
}
