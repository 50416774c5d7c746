# What the record hides.
package toolwarrant.log_test

import rego.v2

import data.toolwarrant.log
import data.toolwarrant_test.fixture

test_mask[note] if {
	some note, tc in {
		"nothing": [set(), [], set()],
		"by the author": [{"pin"}, [], {"/pin"}],
		"by the operator": [set(), ["x"], {"/x"}],
		"escaped": [{"a/b~c"}, [], {"/a~1b~0c"}],
		"not a parameter": [{"other"}, ["another"], set()],
	}
	tested := fixture.tool({"params": {"x", "pin", "a/b~c"}, "maskParams": tc[0]})
	mask := log.mask with input as tested with data.toolwarrant.settings.log.maskParams as tc[1]
	mask == tc[2]
}
