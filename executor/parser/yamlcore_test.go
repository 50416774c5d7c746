package parser

import "testing"

// TestCoreSchema holds that scalars are those of the core schema of YAML 1.2.
func TestCoreSchema(t *testing.T) {
	for text, want := range map[string]string{
		"010": "10", "0777": "777", "08": "8", "007": "7", "-012": "-12", "+12": "12", "0": "0", "-0": "0",
		"0o17": "15", "0o777": "511", "0o8": `"0o8"`, "-0o17": `"-0o17"`,
		"0x1F": "31", "0xdeadBEEF": "3735928559", "0xg": `"0xg"`, "-0x10": `"-0x10"`, "0X10": `"0X10"`,
		"0b101": `"0b101"`, "1_000": `"1_000"`, "1_000.5": `"1_000.5"`, "0x_1": `"0x_1"`,
		"1:30": `"1:30"`, "190:20:30": `"190:20:30"`, "1:30.5": `"1:30.5"`,
		"1.5": "1.5", ".5": "0.5", "1.": "1", "-.5e3": "-500", "1e3": "1000", "+1.5E-2": "0.015", "01.50": "1.5", "1e400": "", ".": `"."`, "e3": `"e3"`, "1e": `"1e"`, "1.5.2": `"1.5.2"`,
		"12345678901234567890": "12345678901234567000", "123456789012345678901234567890": "1.2345678901234568e+29", "0xffffffffffffffffff": "4.722366482869645e+21",
		".inf": "", "-.INF": "", ".nan": "", "+.nan": `"+.nan"`, ".iNf": `".iNf"`, "inf": `"inf"`, "NaN": `"NaN"`,
		"~": "null", "null": "null", "Null": "null", "NULL": "null", "nULL": `"nULL"`, "": "null",
		"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false", "tRUE": `"tRUE"`,
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "off": `"off"`, "y": `"y"`, "Y": `"Y"`, "2026-01-02": `"2026-01-02"`, "=": `"="`,
		`"010"`: `"010"`, `'12'`: `"12"`, `"true"`: `"true"`, `"~"`: `"~"`, "|-\n  010": `"010"`, ">\n  12": `"12\n"`,
		"!!str 010": `"010"`, "!!int 010": "10", "!!int 0o10": "8", `!!int "12"`: "12", "!!int 1.5": "", "!!int 1_0": "", "!!float 3": "3", "!!float x": "", "!!bool True": "true", "!!bool yes": "", "!!null x": "null",
	} {
		got, fail := yamlParse("m: " + text + "\n")
		switch {
		case fail != nil && want != "":
			t.Errorf("%q: %v", text, fail)
		case fail == nil && string(got) != `{"m":`+want+`}`:
			t.Errorf("%q gives %s, want %s", text, got, want)
		}
	}
	if got, fail := yamlParse("01234: a\n0x10: b\nyes: c\n"); fail != nil || string(got) != `{"01234":"a","0x10":"b","yes":"c"}` {
		t.Errorf("keys: %s %v", got, fail)
	}
}
