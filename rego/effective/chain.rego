# Baseline and profile chain.
#
# Folds the baseline and the profile chain, root first, into one layer.
# Lists are united: a profile can add, it has no way to remove. Of single
# values the nearest explicit one wins. The result is what a tool without
# overrides gets; the engine hands it to every decision as input.folded.
package toolwarrant.effective

import rego.v2

# METADATA
# title: Folded baseline and chain
# labels:
#   id: effective-chain
chain := {
	"allowClasses": _united("allowClasses"),
	"denyClasses": _united("denyClasses"),
	"network": {
		"mode": _nearest_network("mode"),
		"hosts": _united_network("hosts"),
		"hostsDeny": _united_network("hostsDeny"),
		"ports": _nearest_network("ports"),
	},
	"fileRead": _nearest("fileRead"),
	"fileWrite": _nearest("fileWrite"),
	"maxStatements": _limit("maxStatements"),
	"timeoutSeconds": _limit("timeoutSeconds"),
	"maxMemoryBytes": _limit("maxMemoryBytes"),
	"maxOutputBytes": _limit("maxOutputBytes"),
	"maxLogLines": _limit("maxLogLines"),
}

# METADATA
# title: The nearest limit, never above the ceiling of the operator
# labels:
#   id: effective-limit
_limit(field) := min({_nearest(field), data.toolwarrant.settings.limits.ceilings[field]})

# METADATA
# title: Layers from the baseline to the leaf
# labels:
#   id: effective-layers
_layers := array.concat([input.layers.baseline], input.layers.profiles)

# METADATA
# title: The nearest explicit value of a field
# labels:
#   id: effective-nearest
_nearest(field) := stated[count(stated) - 1] if {
	stated := [value | some layer in _layers; value := layer[field]]
}

# METADATA
# title: The nearest explicit value of a network field
# labels:
#   id: effective-nearest-network
_nearest_network(field) := stated[count(stated) - 1] if {
	stated := [value | some layer in _layers; value := layer.network[field]]
}

# METADATA
# title: The union of a list over all layers
# labels:
#   id: effective-union
_united(field) := union({value | some layer in _layers; value := layer[field]})

# METADATA
# title: The union of a network list over all layers
# labels:
#   id: effective-union-network
_united_network(field) := union({value | some layer in _layers; value := layer.network[field]})
