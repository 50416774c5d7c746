package regolint

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/resolver"
)

// rules is every rule that modules of Rego can break, with modules that do and
// modules that do not. A module without a package gets one, and the import of
// rego.v2; lines count from the text below. Cases of one rule are told apart
// by their note.
var table = []struct {
	id, note, text string
	lines          []int // where the rule is found; none = it is not
}{
	{"TW202", "no import", "package toolwarrant.own.a\n\nx if input.tool.name == \"a\"", []int{1}},
	{"TW202", "another import", "package toolwarrant.own.b\n\nimport rego.v1\n\nx if input.tool.name == \"a\"", []int{1}},
	{"TW202", "imported", `x if input.tool.name == "a"`, nil},
	{"TW202", "imported among others", "package toolwarrant.own.c\n\nimport data.toolwarrant.risk\nimport rego.v2\n\nx if risk.level == \"L0\"", nil},

	{"TW203", "a call, before rego.v2", "package toolwarrant.own.d\n\nx if not startswith(lower(input.tool.name), \"a\")", []int{3}},
	{"TW203", "membership, before rego.v2", "package toolwarrant.own.e\n\nx if not input.tool.category in {\"MATH\"}", []int{3}},
	{"TW203", "an order, before rego.v2", "package toolwarrant.own.f\n\nx if not input.tool.name > \"a\"", []int{3}},
	{"TW203", "a wildcard", `x if not input.principal.groups[_] == "a"`, []int{1}},
	{"TW203", "a plain reference, before rego.v2", "package toolwarrant.own.g\n\nx if not input.tool.sandboxOverrides.fileRead", nil},
	{"TW203", "an equality, before rego.v2", "package toolwarrant.own.h\n\nx if not input.tool.name == \"a\"", nil},
	{"TW203", "a call", `x if not startswith(lower(input.tool.name), "a")`, nil},
	{"TW203", "a wildcard in a comprehension", `x if not count([g | g := input.principal.groups[_]]) == 1`, nil},

	{"TW204", "a field", `x if input.tool.nmae == "a"`, []int{1}},
	{"TW204", "through a variable", "x if {\n\toperator := input.layers.operator\n\toperator.basPath == \"a\"\n}", []int{3}},
	{"TW204", "of an element", "x if {\n\tsome profile in input.layers.profiles\n\tprofile.nam == \"a\"\n}", []int{3}},
	{"TW204", "below a text", `x if input.tool.name.first == "a"`, []int{1}},
	{"TW204", "in a negation", `x if not input.call.orign == "list"`, []int{1}},
	{"TW204", "a setting", `x if data.toolwarrant.settings.hitl.treshold == "L3"`, []int{1}},
	{"TW204", "a rule", "import data.toolwarrant.risk\n\nx if risk.levle == \"L3\"", []int{3}},
	{"TW204", "a field of a result", "import data.toolwarrant.hitl\n\nx if hitl.explanation.becaus == \"a\"", []int{3}},
	{"TW204", "a package", `x if data.toolwarrant.effectiv.policy`, []int{1}},
	{"TW204", "replaced by a test", "package toolwarrant.own.i_test\n\nimport rego.v2\n\ntest_x if data.toolwarrant.decision with input.tool.nmae as \"a\"", []int{5}},
	{"TW204", "a setting replaced by a test", "package toolwarrant.own.j_test\n\nimport rego.v2\n\ntest_x if data.toolwarrant.decision with data.toolwarrant.settings.acess.rules as []", []int{5}},
	{"TW204", "optional fields", "x if input.publish.justification == \"a\"\n\nx if input.document.description == \"a\"", nil},
	{"TW204", "arguments are open", `x if input.call.args.path.deep[0] == "a"`, nil},
	{"TW204", "any setting", "x if {\n\tsome kind\n\tdata.toolwarrant.settings.classes[kind].exact\n}", nil},
	{"TW204", "asked for with a default", `x if object.get(input.tool, "catgory", "") == "a"`, []int{1}},
	{"TW204", "a path with a default", `x if object.get(input, ["tool", "sandboxOverrides", "filewrite"], false)`, []int{1}},
	{"TW204", "with a default, through a variable", "x if {\n\ttool := input.tool\n\tobject.get(tool, \"owner\", \"\") == \"a\"\n}", []int{3}},
	{"TW204", "with a default, in a head", `x := object.get(input.tool.humanInTheLoop, "moed", "") if input.tool.name == "a"`, []int{1}},
	{"TW204", "of a document of the policy", `x if data.toolwarrant.effective.policy.network.hsts == set()`, []int{1}},
	{"TW204", "of a document of the policy, imported", "import data.toolwarrant.effective\n\nx if {\n\tnetwork := effective.policy.network\n\t\"a\" in network.hsts\n}", []int{5}},
	{"TW204", "of a document of the policy, with a default", `x if object.get(data.toolwarrant.effective.policy, ["network", "hsts"], set()) == set()`, []int{1}},
	{"TW204", "of the decision", `x if data.toolwarrant.decision.humanInTheLoop.aprovers.fourEyes`, []int{1}},
	{"TW204", "a position in a set", `x if input.tool.tags[0] == "util"`, []int{1}},
	{"TW204", "a position in a set below", `x if input.folded.network.hosts[0]`, []int{1}},
	{"TW204", "a position in a set, through a variable", "x if {\n\ttags := input.tool.tags\n\ttags[1] == \"util\"\n}", []int{3}},
	{"TW204", "a member of a text of a set", `x if input.tool.params[_].name == "a"`, []int{1}},
	{"TW204", "a member of a text of a set, one by one", "x if {\n\tsome p in input.tool.params\n\tp.name == \"a\"\n}", []int{3}},
	{"TW204", "known members with a default", "x if object.get(input.tool, \"category\", \"\") == \"a\"\n\nx if object.get(input, [\"tool\", \"sandboxOverrides\", \"fileWrite\"], false)", nil},
	{"TW204", "a computed key with a default", "x if {\n\tsome key in [\"a\", \"b\"]\n\tobject.get(input.tool, key, \"\") == \"a\"\n}", nil},
	{"TW204", "an argument with a default", `x if object.get(input.call.args, ["path", "deep"], "") == "a"`, nil},
	{"TW204", "members of documents of the policy", "import data.toolwarrant.effective\n\nx if effective.policy.network.hosts == set()\n\nx if object.get(effective.policy, [\"fs\", \"write\"], false)\n\nx if data.toolwarrant.decision.riskLevel == \"L3\"", nil},
	{"TW204", "elements of a set", "x if input.tool.tags[\"util\"]\n\nx if input.tool.tags[_] == \"util\"\n\nx if {\n\tsome p in input.tool.params\n\tp == \"a\"\n}\n\nx if input.folded.network.ports[443]", nil},
	{"TW204", "the first of a list", `x if input.layers.profiles[0].name == "a"`, nil},

	{"TW205", "two values", "x if {\n\tinput.tool.name == \"a\"\n\tinput.tool.name == \"b\"\n}", []int{3}},
	{"TW205", "two values through variables", "x if {\n\ttool := input.tool\n\ttool.name == \"a\"\n\tother := input.tool.name\n\tother == \"b\"\n}", []int{5}},
	{"TW205", "a value and its denial", "x if {\n\tinput.tool.name == \"a\"\n\tinput.tool.name != \"a\"\n}", []int{3}},
	{"TW205", "a value and its negation", "x if {\n\tinput.tool.name == \"a\"\n\tnot input.tool.name == \"a\"\n}", []int{3}},
	{"TW205", "a value and a list without it", "x if {\n\tinput.tool.name in {\"a\", \"b\"}\n\tinput.tool.name == \"c\"\n}", []int{3}},
	{"TW205", "a value and a list that excludes it", "x if {\n\tinput.tool.name == \"a\"\n\tnot input.tool.name in {\"a\", \"b\"}\n}", []int{3}},
	{"TW205", "two lists", "x if {\n\tinput.tool.name in {\"a\", \"b\"}\n\tinput.tool.name in {\"c\"}\n}", []int{3}},
	{"TW205", "an empty range", "x if {\n\tcount(input.tool.tags) > 3\n\tcount(input.tool.tags) <= 3\n}", []int{3}},
	{"TW205", "a value beyond a range", "x if {\n\tcount(input.tool.tags) > 3\n\tcount(input.tool.tags) == 2\n}", []int{3}},
	{"TW205", "two values of one element", "x if {\n\tsome g in input.principal.groups\n\tg == \"a\"\n\tg == \"b\"\n}", []int{4}},
	{"TW205", "false", "x if {\n\tinput.tool.name == \"a\"\n\tfalse\n}", []int{3}},
	{"TW205", "not true", `x if not true`, []int{1}},
	{"TW205", "constants", `x if 1 == 2`, []int{1}},
	{"TW205", "a constant variable", "x if {\n\tmode := \"a\"\n\tmode == \"b\"\n}", []int{3}},
	{"TW205", "in an empty set", `x if input.tool.name in set()`, []int{1}},
	{"TW205", "in an empty list", `x if input.tool.name in []`, []int{1}},
	{"TW205", "some of nothing", "x if {\n\tsome y in []\n\ty == 1\n}", []int{2}},
	{"TW205", "in a comprehension", "x := {g |\n\tsome g in input.principal.groups\n\tg == \"a\"\n\tg == \"b\"\n}", []int{4}},
	{"TW205", "in every", "x if {\n\tevery g in input.principal.groups {\n\t\tg == \"a\"\n\t\tg == \"b\"\n\t}\n}", []int{4}},
	{"TW205", "sides of two types", `x if input.folded.fileRead == "yes"`, []int{1}},
	{"TW205", "an else behind a constant", "x := 1 if true\n\nelse := 2 if input.tool.name == \"a\"", []int{3}},
	{"TW205", "a thing and its negation", "x if {\n\tnot input.folded.fileRead\n\tinput.folded.fileRead\n}", []int{3}},
	{"TW205", "a call and its negation", "x if {\n\tstartswith(input.tool.name, \"a\")\n\tnot startswith(input.tool.name, \"a\")\n}", []int{3}},
	{"TW205", "less than nothing", `x if count(input.approvals) < 0`, []int{1}},
	{"TW205", "a negative number", `x if count(input.tool.tags) == -1`, []int{1}},
	{"TW205", "a set and a list", `x if input.principal.groups == ["guests"]`, []int{1}},
	{"TW205", "a set and a text", `x if input.principal.groups != "staff"`, []int{1}},
	{"TW205", "a set and a text, negated", `x if not input.tool.tags == "util"`, []int{1}},
	{"TW205", "above the last level", "import data.toolwarrant.risk\n\nx if risk.level > \"L5\"", []int{3}},
	{"TW205", "below the first level", `x if data.toolwarrant.risk.level < "L0"`, []int{1}},
	{"TW205", "some elements", "x if {\n\tnot input.tool.tags[\"a\"]\n\tinput.tool.tags[\"b\"]\n\tnot startswith(input.tool.name, \"a\")\n\tstartswith(input.tool.name, \"b\")\n}", nil},
	{"TW205", "numbers of things", "x if count(input.approvals) < 1\n\nx if count(input.approvals) == 0\n\nx if count(input.approvals) > -1", nil},
	{"TW205", "two sets", "x if input.principal.groups == {\"guests\"}\n\nx if input.tool.tags != set()\n\nx if input.tool.tags & {\"a\"} == set()", nil},
	{"TW205", "levels in their order", "import data.toolwarrant.risk\n\nx if risk.level >= \"L4\"\n\nx if risk.level < \"L1\"\n\nx if not risk.level > \"L2\"", nil},
	{"TW205", "two elements", "x if {\n\tinput.principal.groups[_] == \"a\"\n\tinput.principal.groups[_] == \"b\"\n}", nil},
	{"TW205", "two bodies", "x if input.tool.name == \"a\"\n\nx if input.tool.name == \"b\"", nil},
	{"TW205", "either", "x if input.tool.name == \"a\"\n\nelse if input.tool.name == \"b\"", nil},
	{"TW205", "a range", "x if {\n\tcount(input.tool.tags) > 3\n\tcount(input.tool.tags) <= 4\n}", nil},
	{"TW205", "another input", "x if {\n\tdata.toolwarrant.risk.level == \"L0\" with input.tool.name as \"a\"\n\tdata.toolwarrant.risk.level == \"L1\" with input.tool.name as \"b\"\n}", nil},
	{"TW205", "an else behind a value that may be missing", "x := input.tool.code if true\n\nelse := 2 if input.tool.name == \"a\"", nil},
	{"TW205", "not both", "x if {\n\tinput.tool.name == \"a\"\n\tnot {\n\t\tinput.tool.category == \"b\"\n\t\tinput.tool.name == \"c\"\n\t}\n}", nil},
	{"TW205", "both, behind not", "x if {\n\tnot {\n\t\tinput.tool.category == \"b\"\n\t\tinput.tool.category == \"c\"\n\t}\n}", []int{4}},
	{"TW205", "overlapping lists", "x if {\n\tinput.tool.name in {\"a\", \"b\"}\n\tnot input.tool.name in {\"b\"}\n}", nil},

	{"TW206", "a mode", `x if input.tool.sandboxOverrides.networkMode == "alowlist"`, []int{1}},
	{"TW206", "turned around", `x if "opn" == input.folded.network.mode`, []int{1}},
	{"TW206", "always different", `x if input.call.origin != "mcp"`, []int{1}},
	{"TW206", "in a list", `x if input.call.origin in {"list", "lnt"}`, []int{1}},
	{"TW206", "in a negation", `x if not input.call.origin in {"lnt"}`, []int{1}},
	{"TW206", "through a variable", "x if {\n\tmode := input.folded.network.mode\n\tmode == \"none\"\n}", []int{3}},
	{"TW206", "of an element", "x if {\n\tsome profile in input.layers.profiles\n\tprofile.network.mode == \"strict\"\n\tinput.layers.profiles[_].network.mode == \"strickt\"\n}", []int{4}},
	{"TW206", "through a rule with a default", "import data.toolwarrant.effective\n\nx if effective.network_mode == \"off\"", []int{3}},
	{"TW206", "through a function that chooses", "import data.toolwarrant.hitl\n\nx if hitl.verdict.mode == \"ASK\"", []int{3}},
	{"TW206", "a known mode", `x if input.tool.sandboxOverrides.networkMode == "allowlist"`, nil},
	{"TW206", "a mode of asking", `x if input.tool.humanInTheLoop.mode == "disabled"`, []int{1}},
	{"TW206", "a mode of asking, with a default", `x if object.get(input.tool.humanInTheLoop, "mode", "") == "ASK_NICELY"`, []int{1}},
	{"TW206", "a mode that is demanded", `x if data.toolwarrant.hitl.requirement.mode == "NONE"`, []int{1}},
	{"TW206", "a level", `x if data.toolwarrant.risk.level == "HIGH"`, []int{1}},
	{"TW206", "an order with no level", "import data.toolwarrant.risk\n\nx if risk.level >= \"l4\"", []int{3}},
	{"TW206", "an order with no level, turned around", "import data.toolwarrant.risk\n\nx if \"high\" < risk.level", []int{3}},
	{"TW206", "a level of the decision", `x if data.toolwarrant.decision.riskLevel in {"L6"}`, []int{1}},
	{"TW206", "in a collection of it", `x if "mcp" in {input.call.origin}`, []int{1}},
	{"TW206", "a time of the day", `x if input.now > "22:00"`, []int{1}},
	{"TW206", "a day and no more", `x if input.now == "2026-01-31"`, []int{1}},
	{"TW206", "modes of asking", "x if input.tool.humanInTheLoop.mode == \"DISABLED\"\n\nx if object.get(input.tool.humanInTheLoop, \"mode\", \"\") == \"\"\n\nx if data.toolwarrant.hitl.requirement.mode == \"REQUIRED\"", nil},
	{"TW206", "in a collection of things", "x if \"list\" in {input.call.origin}\n\nx if \"mcp\" in {input.call.origin, input.tool.name}", nil},
	{"TW206", "moments", "x if input.now > \"2026-01-31\"\n\nx if input.now < \"2026-01-31T22:00:00Z\"\n\nx if input.now >= \"2026\"", nil},
	{"TW206", "the name of a setting", "import data.toolwarrant.risk\n\nx if risk.level == \"L3\"", nil},

	{"TW207", "the clock", `x if time.now_ns() > 3`, []int{1}},
	{"TW207", "the network", `x := http.send({"method": "get", "url": "https://example.com"})`, []int{1}},
	{"TW207", "the environment", `x := opa.runtime().env`, []int{1}},
	{"TW207", "a lookup", `x := net.lookup_ip_addr("example.com")`, []int{1}},
	{"TW207", "chance, within a call", `x if abs(rand.intn("a", 3)) == 1`, []int{1}},
	{"TW207", "a token", `x := io.jwt.decode(input.principal.subject)`, []int{1}},
	{"TW207", "replaced by a test", "package toolwarrant.own.k_test\n\nimport rego.v2\n\ntest_x if time.now_ns() == 1 with time.now_ns as 1", []int{5}},
	{"TW207", "the time of the call", `x if time.parse_rfc3339_ns(input.now) > 3`, nil},
	{"TW207", "its text", `x := "time.now_ns"`, nil},

	{"TW208", "nothing", `x if input.tool.name == "a"`, []int{1}},
	{"TW208", "a title without an id", "# METADATA\n# title: T\nx if input.tool.name == \"a\"", []int{3}},
	{"TW208", "an id without a title", "# METADATA\n# labels:\n#   id: own-x\nx if input.tool.name == \"a\"", []int{4}},
	{"TW208", "a plain comment", "# title: T\nx contains 1 if input.tool.name == \"a\"", []int{2}},
	{"TW208", "both", "# METADATA\n# title: T\n# labels:\n#   id: own-y\nx if input.tool.name == \"a\"", nil},
	{"TW208", "once for a name", "# METADATA\n# title: T\n# labels:\n#   id: own-z\nx if input.tool.name == \"a\"\n\nx if input.tool.name == \"b\"", nil},
	{"TW208", "the package's own", `_x if input.tool.name == "a"`, nil},

	{"TW209", "no METADATA", `x contains {"id": "own-none", "message": "m"} if input.tool.name == "a"`, []int{1}},
	{"TW209", "another id", "# METADATA\n# title: T\n# labels:\n#   id: own-other\nx contains {\"id\": \"own-one\"} if input.tool.name == \"a\"", []int{5}},
	{"TW209", "the same id", "# METADATA\n# title: T\n# labels:\n#   id: own-same\nx contains {\"id\": \"own-same\"} if input.tool.name == \"a\"", nil},
	{"TW209", "an id of the settings", `x contains {"id": rule.id} if some rule in data.toolwarrant.settings.access.rules`, nil},

	{"TW210", "a rule", `untested if input.tool.name == "a"`, []int{1}},
	{"TW210", "an id", `_x contains {"id": "own-untested"} if input.tool.name == "a"`, []int{1}},
	{"TW210", "tested", "package toolwarrant.own.tested\n\nimport rego.v2\n\nx if input.tool.name == \"a\"", nil},
	{"TW210", "its test", "package toolwarrant.own.tested_test\n\nimport rego.v2\n\nimport data.toolwarrant.own.tested\n\ntest_x if {\n\ttested.x with input as {\"tool\": {\"name\": \"a\"}}\n\t\"own-tested\" != \"\"\n}", nil},
	{"TW210", "an id that a test names", `_x contains {"id": "own-tested"} if input.tool.name == "a"`, nil},

	{"TW211", "allow", `allow if true`, []int{1}},
	{"TW211", "callable", `callable := true`, []int{1}},
	{"TW211", "by default", "default visible := true\n\nvisible := false if input.tool.name == \"a\"", []int{1}},
	{"TW211", "a function", `_granted(_) := true`, []int{1}},
	{"TW211", "nothing refused", `refusals := set()`, []int{1}},
	{"TW211", "approved by itself", `verdict := {"mode": "DISABLED", "source": "rule", "ruleId": "x", "autoApproved": true}`, []int{1}},
	{"TW211", "nobody asked", `verdict := {"mode": "DISABLED", "source": "rule", "ruleId": "x", "autoApproved": false}`, []int{1}},
	{"TW211", "under a condition", `allow if input.principal.subject == "a"`, nil},
	{"TW211", "never by default", "default allow := false\n\nallow if input.principal.subject == \"a\"", nil},
	{"TW211", "of a matching argument", `_granted("a") := true`, nil},
	{"TW211", "another rule", `enabled := true`, nil},
	{"TW211", "nobody asked at last", "verdict := {\"mode\": \"REQUIRED\"} if {\n\tinput.tool.name == \"a\"\n} else := {\"mode\": \"DISABLED\"}", nil},

	{"TW212", "hosts", `hosts := {"*"}`, []int{1}},
	{"TW212", "united with hosts", `hosts := input.folded.network.hosts | {"**"}`, []int{1}},
	{"TW212", "one by one", `groups contains "*"`, []int{1}},
	{"TW212", "in an object", `x := {"approvers": {"groups": ["*"], "fourEyes": true}}`, []int{1}},
	{"TW212", "in a variable", "x if {\n\tgroups := {\"*\"}\n\tinput.principal.subject in groups\n}", []int{2}},
	{"TW212", "approved by themselves", `auto_approve := ["*"]`, []int{1}},
	{"TW212", "a name", `hosts := {"api.example.com"}`, nil},
	{"TW212", "a comparison", "x if {\n\tsome host in input.folded.network.hosts\n\thost == \"*\"\n}", nil},
	{"TW212", "other words", `operators := {"*", "+"}`, nil},

	{"TW213", "a group", `x if "*" in input.principal.groups`, []int{1}},
	{"TW213", "a group, one by one", "x if {\n\tsome g in input.principal.groups\n\tg == \"*\"\n}", []int{3}},
	{"TW213", "a name", `x if input.tool.name == "*"`, []int{1}},
	{"TW213", "a category through a variable", "x if {\n\ttool := input.tool\n\ttool.category == \"*\"\n}", []int{3}},
	{"TW213", "a host is a pattern", `x if "*" in input.folded.network.hosts`, nil},
	{"TW213", "a group by its name", `x if "staff" in input.principal.groups`, nil},

	{"TW214", "of groups", `x if input.principal.groups[_] != "a"`, []int{1}},
	{"TW214", "of fields", "x if {\n\tinput.tool.name == \"a\"\n\tinput.layers.profiles[_].name != input.tool.name\n}", []int{3}},
	{"TW214", "one by one", "x if {\n\tsome g in input.principal.groups\n\tg != \"staff\"\n}", []int{3}},
	{"TW214", "one by one, of two", "x if {\n\tsome g in input.principal.groups\n\t\"staff\" != g\n\tg != \"admins\"\n}", []int{3, 4}},
	{"TW214", "one that is looked at further", "x if {\n\tsome g in input.principal.groups\n\tg != \"staff\"\n\tstartswith(g, \"s\")\n}", nil},
	{"TW214", "a filter", "x contains g if {\n\tsome g in input.principal.groups\n\tg != \"a\"\n}", nil},
	{"TW214", "of one place", `x if input.layers.profiles[0].name != "a"`, nil},

	{"TW217", "another spelling", `x if input.tool.category == "web"`, []int{1}},
	{"TW217", "in a list", `x if not input.tool.category in {"WEB", "FINANCE"}`, []int{1}},
	{"TW217", "a category", `x if input.tool.category in {"WEB", "MATH"}`, nil},
	{"TW217", "another field", `x if input.tool.name == "web"`, nil},

	{"TW216", "no such finding", "# METADATA\n# title: T\n# labels:\n#   id: own-x\n# custom:\n#   accept:\n#     TW212: it had one\n_x := 1", []int{7}},
	{"TW216", "what cannot be accepted", "# METADATA\n# title: T\n# custom:\n#   accept:\n#     TW207: it has to be the clock\n_x := time.now_ns()", []int{5}},
	{"TW216", "no such id, and no reason", "# METADATA\n# title: T\n# custom:\n#   accept:\n#     TW210: \"\"\n#     own-rule: why\n_x := 1", []int{5, 6}},
	{"TW216", "a finding of the rule", "# METADATA\n# title: T\n# custom:\n#   accept:\n#     TW212: agreed\n_hosts := {\"*\"}", nil},
	{"TW216", "a finding of the file", "# METADATA\n# title: T\n# custom:\n#   accept:\n#     TW212: agreed\npackage toolwarrant.own.l\n\nimport rego.v2\n\n_hosts := {\"*\"}", nil},
	{"TW212", "accepted", "# METADATA\n# title: T\n# custom:\n#   accept:\n#     TW212: agreed\n_hosts := {\"*\"}", nil},
}

// write puts a policy of one's own beside the built-in one and gives its
// folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if err := resolver.WriteBuiltin(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir string) lint.Report {
	t.Helper()
	r, err := Run(context.Background(), Options{Categories: []string{"MATH", "WEB"}, Policy: resolver.Options{Policy: dir, Operator: resolver.Operator{BasePath: t.TempDir()}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRules lints all modules of the table at once, each in its own package.
func TestRules(t *testing.T) {
	files, offset := map[string]string{}, map[string]int{}
	name := func(i int) string {
		if strings.Contains(table[i].text, "_test\n") {
			return "policy_test/own" + strconv.Itoa(i) + "_test.rego"
		}
		return "rego/own/own" + strconv.Itoa(i) + ".rego"
	}
	bad, good := map[string]int{}, map[string]int{}
	for i, tc := range table {
		text := tc.text
		if !strings.Contains(text, "package ") {
			text = "package toolwarrant.own.p" + strconv.Itoa(i) + "\nimport rego.v2\n" + text
			offset[name(i)] = 2
		}
		files[name(i)] = text + "\n"
		if len(tc.lines) > 0 {
			bad[tc.id]++
		} else {
			good[tc.id]++
		}
	}
	dir := write(t, files)
	got := map[string][]int{} // id and file -> lines
	for _, f := range run(t, dir).Findings {
		rel, err := filepath.Rel(dir, f.File)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.ToSlash(rel)
		got[f.RuleID+" "+file] = append(got[f.RuleID+" "+file], f.Line-offset[file])
		if _, ours := files[file]; !ours {
			t.Errorf("%s of the built-in policy: %+v", file, f)
		}
		if f.RuleID == "TW201" && !strings.Contains(f.Message, "unsafe") {
			t.Errorf("%s does not compile: %s", files[file], f.Message)
		}
	}
	for i, tc := range table {
		t.Run(tc.id+"/"+tc.note, func(t *testing.T) {
			if diff := cmp.Diff(tc.lines, got[tc.id+" "+name(i)]); diff != "" {
				t.Errorf("%s\nlines (-want +got):\n%s", tc.text, diff)
			}
		})
	}
	for id := range severities {
		if !slices.Contains([]string{"TW201", "TW215", "TW218", "TW219"}, id) && (bad[id] < 2 || good[id] < 2) { // TestWhole has those
			t.Errorf("%s has %d modules that break it and %d that do not, want two of each", id, bad[id], good[id])
		}
	}
}
