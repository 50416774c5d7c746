package toolwarrant.access

import rego.v2

# METADATA
# title: No finance at night
# labels:
#   id: no-finance-at-night
reasons contains {"id": "no-finance-at-nite", "message": "not now", "path": ""} if {
	input.tool.categroy == "FINANCE"
	input.call.origin == "mcp"
	not input.principal.groups[_] == "größe" # at least one
}

# METADATA
# title: Whom nobody stops
# labels:
#   id: own-trusted
# custom:
#   accept:
#     TW211: the machine of the operator alone runs this policy
_trusted := true

_x := "größe" if { "*" in input.principal.groups; _trusted }
