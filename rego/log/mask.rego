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
mask contains concat("/", ["", replace(replace(name, "~", "~0"), "/", "~1")]) if {
	some name in input.tool.params
	_masked(name)
}

# METADATA
# title: A parameter is on the list of the operator or of the document
# labels:
#   id: log-masked
_masked(name) if name in data.toolwarrant.settings.log.maskParams

_masked(name) if name in input.tool.maskParams
