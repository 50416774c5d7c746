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

# The strongest of what both say counts, and neither weakens the other.
test_how[note] if {
	some note, tc in {
		"nothing": [{}, [], {}],
		"the author's": [{"x": "drop", "pin": "hmac"}, [], {"/x": "drop", "/pin": "hmac"}],
		"the operator's": [{}, {"x": "hash", "pin": "mask"}, {"/x": "hash", "/pin": "mask"}],
		"a list masks": [{}, ["x"], {"/x": "mask"}],
		"both": [{"pin": "hmac"}, {"x": "drop"}, {"/x": "drop", "/pin": "hmac"}],
		"the same": [{"x": "hash"}, {"x": "hash"}, {"/x": "hash"}],
		"drop before mask": [{"x": "mask"}, {"x": "drop"}, {"/x": "drop"}],
		"mask before hmac": [{"x": "hmac"}, ["x"], {"/x": "mask"}],
		"hmac before hash": [{"x": "hash"}, {"x": "hmac"}, {"/x": "hmac"}],
		"the author does not weaken": [{"x": "hash"}, {"x": "drop"}, {"/x": "drop"}],
		"the author may be stronger": [{"x": "drop"}, {"x": "hash"}, {"/x": "drop"}],
		"not a parameter": [{"other": "drop"}, {"another": "hmac"}, {}],
	}
	tested := fixture.tool({
		"params": {"x", "pin"},
		"maskParams": object.keys(tc[0]),
		"maskForms": {name: form | some name, form in tc[0]; form != "mask"},
	})
	how := log.how with input as tested with data.toolwarrant.settings.log.maskParams as tc[1]
	how == tc[2]
}

# A rule of the operator's adds to what is hidden, and weakens nothing.
test_added if {
	added := {{"pointer": "/x", "form": "drop"}, {"pointer": "/x", "form": "hash"}, {"pointer": "/y/z", "form": "hmac"}}
	how := log.how with log.hide as added
	how == {"/x": "drop", "/y/z": "hmac"}
}

# "mask" is what an engine reads that knows no other form: it never shows what
# is dropped.
test_mask_of_forms if {
	tested := fixture.tool({
		"params": {"a", "b", "c", "d"}, "maskParams": {"a", "b", "c", "d"},
		"maskForms": {"b": "drop", "c": "hmac", "d": "hash"},
	})
	log.mask == {"/a", "/b"} with input as tested
}

test_drop if {
	log.drop == set() with input as fixture.plain
	drop := log.drop with input as fixture.plain with data.toolwarrant.settings.log.dropFields as ["/traceId", "/usage/fs"]
	drop == {"/traceId", "/usage/fs"}
}

test_result[note] if {
	some note, tc in {
		"as shipped": [[], "digest"],
		"by name": [["other", "probe"], "content"],
		"by id": [["id-1"], "content"],
		"by category": [["MATH"], "content"],
		"of another": [["MAT", "prob", "util"], "digest"],
	}
	result := log.result with input as fixture.plain with data.toolwarrant.settings.log.resultContent as tc[0]
	result == tc[1]
}

# The settings of older policies have neither.
test_older_settings if {
	record := log.record with input as fixture.plain with data.toolwarrant.settings.log as {"maskParams": ["x"]}
	record == {"how": {"/x": "mask"}, "drop": set(), "result": "digest"}
}
