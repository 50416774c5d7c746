# METADATA
# title: Limits
# description: Rates that the server holds, and the weakest isolation for a level.
package toolwarrant.limits

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: Rates
# description: 0 means no limit.
# labels:
#   id: limits-rates
rates := object.remove(data.toolwarrant.settings.limits, {"ceilings"})

# METADATA
# title: The weakest isolation that the call may run under
# labels:
#   id: limits-isolation
isolation := {"minimum": data.toolwarrant.settings.isolation[risk.level]}
