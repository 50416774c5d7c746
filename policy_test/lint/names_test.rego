# Names, tags and sample values.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

test_names[note] if {
	some note, tc in {
		"nothing to say": [fixture.documented(fixture.plain, {}), set()],
		"a member": [fixture.documented(fixture.plain, {"members": ["/name", "/x-größe"]}), {["non-ascii-name", "warning", "/x-größe"]}],
		"an identifier": [fixture.documented(fixture.plain, {"identifiers": [{"text": "größe", "line": 2, "column": 3}]}), {["non-ascii-name", "warning", "/code"]}],
		"no such name": [fixture.documented(fixture.plain, {"missingNames": [{"text": "require", "line": 2, "column": 3}]}), {["name-missing", "error", "/code"]}],
		"no such name that is known": [fixture.documented(fixture.plain, {"missingNames": [{"text": "nobody", "line": 2, "column": 3}]}), {["name-missing", "error", "/code"]}],
		"hides a global": [fixture.documented(fixture.plain, {"params": [{"name": "JSON", "type": "STRING", "description": ""}]}), {["param-shadows", "warning", "/params/0/name"]}],
		"hides none": [fixture.documented(fixture.plain, {"params": [{"name": "json", "type": "STRING", "description": ""}]}), set()],
		"a placeholder as an argument": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "${KEY}"}]}), {["placeholder-in-argument", "warning", "/params/0/testValue"]}],
		"a sum of money": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "$5 {x}"}]}), set()],
		"garbage TODO": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "TODO"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage changeme": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "changeme"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage <your city>": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "<your city>"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage ???": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "???"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage ...": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "..."}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage n/a": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "n/a"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"garbage xxxx": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "xxxx"}]}), {["test-value-garbage", "warning", "/params/0/testValue"]}],
		"a value Seoul": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "Seoul"}]}), set()],
		"a value 5": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "5"}]}), set()],
		"a value a foo": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": "a foo"}]}), set()],
		"a value ": [fixture.documented(fixture.plain, {"params": [{"name": "a", "type": "STRING", "description": "", "testValue": ""}]}), set()],
		"a capability as a tag": [fixture.documented(fixture.plain, {"tags": ["util", "fetch"]}), {["tag-capability", "warning", "/tags/1"]}],
		"a credential as a tag": [fixture.documented(fixture.plain, {"tags": ["API-Key"]}), {["tag-capability", "warning", "/tags/0"]}],
		"a tag of its own": [fixture.documented(fixture.plain, {"tags": ["billing"]}), {["tag-unknown", "info", "/tags/0"]}],
	}
	found := {[f.id, f.severity, f.pointer] | some f in lint.findings} with input as tc[0]
	found == tc[1]
}
