# Host classes.
#
# Set algebra of Safe Tool Spec section 10.2, steps 1 to 3:
# (inherited and added) without removed. The host hands lists over as sets.
package toolwarrant.effective

import rego.v2

# METADATA
# title: Classes that code may look up
# labels:
#   id: effective-allow-classes
allow_classes := (input.folded.allowClasses | input.tool.sandboxOverrides.addAllowClasses) - input.tool.sandboxOverrides.removeAllowClasses

# METADATA
# title: Classes that stay refused whatever is allowed
# labels:
#   id: effective-deny-classes
deny_classes := (input.folded.denyClasses | input.tool.sandboxOverrides.addDenyClasses) - input.tool.sandboxOverrides.removeDenyClasses

# METADATA
# title: Denies that the tool lifts
# description: Removing what is not on the list lifts nothing.
# labels:
#   id: effective-removed-denies
removed_denies := input.folded.denyClasses & input.tool.sandboxOverrides.removeDenyClasses

# METADATA
# title: Allows beyond the baseline
# description: From a profile or from the tool itself, also where the tool removes them again.
# labels:
#   id: effective-added-allows
added_allows := (allow_classes | input.tool.sandboxOverrides.addAllowClasses) - input.layers.baseline.allowClasses
