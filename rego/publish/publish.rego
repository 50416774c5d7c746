# METADATA
# title: Publishing
# description: |
#   Who may put a tool that has passed its test into service, and what has to
#   be said for it. The spec document's own approval mode plays no part.
#   Rules of an installation add to `refusals`.
package toolwarrant.publish

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: A high level needs a reason on record
# labels:
#   id: publish-needs-justification
refusals contains {
	"id": "publish-needs-justification",
	"message": sprintf("a tool of level %s is published with a justification, which goes on record: say why it is needed", [risk.level]),
	"path": "/justification",
} if {
	risk.level >= data.toolwarrant.settings.publish.justifyFrom
	trim_space(input.publish.justification) == ""
}

# METADATA
# title: The highest level needs a trusted author
# labels:
#   id: publish-trusted-authors
refusals contains {
	"id": "publish-trusted-authors",
	"message": sprintf("a tool of level %s is published by a trusted author only, that is by %s", [risk.level, _trusted]),
	"path": "",
} if {
	risk.level >= data.toolwarrant.settings.publish.trustedFrom
	not _trusted_author
}

# METADATA
# title: The caller is a trusted author
# labels:
#   id: publish-trusted-author
_trusted_author if input.principal.subject in data.toolwarrant.settings.publish.trustedAuthors.subjects

_trusted_author if {
	some group in data.toolwarrant.settings.publish.trustedAuthors.groups
	group in input.principal.groups
}

_trusted := concat(" or ", array.concat(
	[sprintf("a member of %s", [group]) | some group in data.toolwarrant.settings.publish.trustedAuthors.groups],
	data.toolwarrant.settings.publish.trustedAuthors.subjects,
))
