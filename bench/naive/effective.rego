# What a tool may do: the layers, with its own wishes on top.
package toolwarrant.effective

import rego.v2

policy := object.union(sandbox_of, {
	"allowClasses": allow_classes,
	"denyClasses": deny_classes,
	"network": {
		"mode": network_mode,
		"hosts": hosts,
		"hostsDeny": hosts_deny,
		"ports": nearest_network("ports"),
		"privateHosts": private_hosts,
	},
	"fs": {
		"read": file_read,
		"write": file_write,
		"basePath": base_path,
	},
	"env": env,
	"maxStatements": limit("maxStatements"),
	"timeoutSeconds": limit("timeoutSeconds"),
	"maxMemoryBytes": limit("maxMemoryBytes"),
	"maxOutputBytes": limit("maxOutputBytes"),
	"maxLogLines": limit("maxLogLines"),
})

# The baseline and the profiles, root first: lists are united, of single values
# the nearest counts.

layers := array.concat([input.layers.baseline], input.layers.profiles)

nearest(field) := stated[count(stated) - 1] if {
	stated := [value | some layer in layers; value := layer[field]]
}

nearest_network(field) := stated[count(stated) - 1] if {
	stated := [value | some layer in layers; value := layer.network[field]]
}

limit(field) := min([nearest(field), data.toolwarrant.settings.limits.ceilings[field]])

layered_denies contains class if {
	some layer in layers
	some class in layer.denyClasses
}

hosts_deny contains host if {
	some layer in layers
	some host in layer.network.hostsDeny
}

# Classes.

granted_classes contains class if {
	some layer in layers
	some class in layer.allowClasses
}

granted_classes contains class if some class in input.tool.sandboxOverrides.addAllowClasses

allow_classes contains class if {
	some class in granted_classes
	not class in input.tool.sandboxOverrides.removeAllowClasses
}

refused_classes contains class if some class in layered_denies

refused_classes contains class if some class in input.tool.sandboxOverrides.addDenyClasses

deny_classes contains class if {
	some class in refused_classes
	not class in input.tool.sandboxOverrides.removeDenyClasses
}

# The denies that the tool lifts.
removed_denies contains class if {
	some class in layered_denies
	class in input.tool.sandboxOverrides.removeDenyClasses
}

# The allows beyond the baseline.
added_allows contains class if {
	some class in allow_classes
	not class in input.layers.baseline.allowClasses
}

added_allows contains class if {
	some class in input.tool.sandboxOverrides.addAllowClasses
	not class in input.layers.baseline.allowClasses
}

# Network.

network_mode := input.tool.sandboxOverrides.networkMode if input.tool.sandboxOverrides.networkMode

network_mode := nearest_network("mode") if not input.tool.sandboxOverrides.networkMode

hosts contains host if {
	network_mode == "allowlist"
	some layer in layers
	some host in layer.network.hosts
}

hosts contains host if {
	network_mode == "allowlist"
	some host in input.tool.sandboxOverrides.hostsAllow
}

private_hosts contains pair if {
	some host in hosts
	some pair in input.layers.operator.privateHosts[host]
}

# Files.

default file_read := false

file_read if input.tool.sandboxOverrides.fileRead == true

file_read if {
	nearest("fileRead")
	not input.tool.sandboxOverrides.fileRead == false
}

default file_write := false

file_write if input.tool.sandboxOverrides.fileWrite == true

file_write if {
	nearest("fileWrite")
	not input.tool.sandboxOverrides.fileWrite == false
}

base_path := input.tool.sandboxOverrides.fsBasePath if input.tool.sandboxOverrides.fsBasePath

base_path := input.layers.operator.basePath if not input.tool.sandboxOverrides.fsBasePath

# Placeholders of the static variables.

env contains name if {
	some name in input.tool.placeholders
	not startswith(name, data.toolwarrant.settings.env.reservedPrefix)
	input.tool.source == "builtin"
	name in input.tool.manifestEnv
}

env contains name if {
	some name in input.tool.placeholders
	not startswith(name, data.toolwarrant.settings.env.reservedPrefix)
	input.tool.source != "builtin"
	some grant in input.layers.operator.grants
	matches(name, grant.names)
	grant_for_tool(grant)
	grant_for_category(grant)
	grant_for_source(grant)
}

grant_for_tool(grant) if count(grant.tools) == 0

grant_for_tool(grant) if matches(input.tool.name, grant.tools)

grant_for_tool(grant) if matches(input.tool.toolId, grant.tools)

grant_for_category(grant) if count(grant.categories) == 0

grant_for_category(grant) if matches(input.tool.category, grant.categories)

grant_for_source(grant) if count(grant.sources) == 0

grant_for_source(grant) if matches(input.tool.source, grant.sources)

matches(value, patterns) if {
	some pattern in patterns
	value == pattern
}

matches(value, patterns) if {
	some pattern in patterns
	endswith(pattern, "*")
	startswith(value, trim_suffix(pattern, "*"))
}
