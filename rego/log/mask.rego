# METADATA
# title: Masks of the record
# description: |
#   Which arguments are written as "***" in the audit record, beside every
#   resolved secret, which is always masked. Pointers of RFC 6901 into the
#   arguments.
package toolwarrant.log

import rego.v2

# METADATA
# title: Arguments that the operator or the author masks
# labels:
#   id: log-mask
mask := {pointer |
	listed := input.tool.maskParams | {name | some name in data.toolwarrant.settings.log.maskParams}
	some name in (input.tool.params & listed)
	pointer := concat("", ["/", replace(replace(name, "~", "~0"), "/", "~1")])
}
