package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolwarrant/toolwarrant/fault"
)

const (
	casesFile = "cases.json"
	maxCases  = 1000
)

// Case is one call of a tool and how its author expects it to end. The cases
// of a tool stand in cases.json beside its spec.json:
//
//	{
//	  "version": 1,
//	  "cases": [
//	    {"want": "HELLO"},
//	    {"args": {"text": "a"}, "like": "^\"A\"$"},
//	    {"why": "nothing to shout", "args": {"text": ""}, "fail": "text is empty"}
//	  ]
//	}
//
// A case states one of Want, Like and Fail.
type Case struct {
	Why  string         `json:"why,omitzero"`  // what the case is about, where that is not plain
	Args jsontext.Value `json:"args,omitzero"` // absent = the testValues
	// Files are in the workspace beside what the tool's folder fixtures/ has;
	// their paths are relative to it.
	Files map[string]string `json:"files,omitzero"`
	Want  jsontext.Value    `json:"want,omitzero"` // the result
	Like  string            `json:"like,omitzero"` // or a pattern of its JSON, in RE2 syntax
	Fail  string            `json:"fail,omitzero"` // or words of the error message
	Code  string            `json:"code,omitzero"` // with Fail: the code, where it is not any
}

// Name is how a report calls the case.
func (c Case) Name() string {
	if c.Why != "" {
		return c.Why
	}
	if c.Args == nil {
		return "testValues"
	}
	return compact(c.Args)
}

// compact gives JSON on one line.
func compact(v jsontext.Value) string {
	v = bytes.Clone(v)
	if err := v.Compact(); err != nil {
		return string(v) // not JSON: shown as it is
	}
	return string(v)
}

// Mismatch says how an outcome differs from what the case expects, and is ""
// where it does not. result is JSON; failed, code and message are of a call
// that failed.
func (c Case) Mismatch(result []byte, failed bool, code, message string) string {
	switch {
	case failed && c.Fail == "":
		return fmt.Sprintf("it failed with %s: %s; wanted %s%s", code, message, compact(c.Want), c.Like)
	case failed && !strings.Contains(message, c.Fail):
		return fmt.Sprintf("it failed with %q; wanted a message with %q", message, c.Fail)
	case failed && c.Code != "" && c.Code != code:
		return fmt.Sprintf("it failed with %s; wanted %s", code, c.Code)
	case failed:
		return ""
	case c.Fail != "":
		return fmt.Sprintf("it gave %s; wanted a failure with %q", result, c.Fail)
	case c.Like != "":
		if is, err := regexp.Match(c.Like, result); err != nil || !is {
			return fmt.Sprintf("it gave %s; wanted what %s matches", result, c.Like)
		}
		return ""
	}
	got, want := jsontext.Value(bytes.Clone(result)), jsontext.Value(bytes.Clone(c.Want))
	if got.Canonicalize() != nil || want.Canonicalize() != nil || !bytes.Equal(got, want) {
		return fmt.Sprintf("it gave %s; wanted %s", result, compact(c.Want))
	}
	return ""
}

// CasesFile is where the cases of a tool that is a folder stand.
func CasesFile(t *Tool) string { return besidePath(t, casesFile) }

// Cases reads the cases of a tool that is bundled or a folder; there are none
// for any other. A file that cannot be read or understood is an error of code USAGE.
func Cases(t *Tool) ([]Case, error) {
	file := CasesFile(t)
	switch data, wrong, err := readBeside(t, casesFile); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, badCases(file, wrong, err)
	default:
		return ParseCases(file, data)
	}
}

// ParseCases reads the text of a cases.json; file is its name in errors, which
// are of code USAGE.
func ParseCases(file string, data []byte) ([]Case, error) {
	var doc struct {
		Version int    `json:"version"`
		Cases   []Case `json:"cases"`
	}
	if err := json.Unmarshal(data, &doc, json.RejectUnknownMembers(true)); err != nil {
		return nil, badCases(file, wordsOf(err, "a file of cases has version and cases, and a case why, args, files, want, like, fail and code"), err)
	}
	if doc.Version != dataVersion {
		return nil, badCases(file, "not of version 1", nil)
	}
	if len(doc.Cases) > maxCases {
		return nil, badCases(file, fmt.Sprintf("it has %d cases; at most %d are run", len(doc.Cases), maxCases), nil)
	}
	for i, c := range doc.Cases {
		if wrong := c.wrong(); wrong != "" {
			f := fault.New(fault.Usage, "bad-cases", "%s: case %d %s", file, i+1, wrong)
			return nil, f.At(file, fmt.Sprintf("/cases/%d", i), 0, 0)
		}
	}
	return doc.Cases, nil
}

// wrong says what is wrong with the case itself, or "".
func (c Case) wrong() string {
	stated := 0
	for _, is := range []bool{c.Want != nil, c.Like != "", c.Fail != ""} {
		if is {
			stated++
		}
	}
	switch {
	case stated != 1:
		return "has to state one of want, like and fail"
	case c.Code != "" && c.Fail == "":
		return "states a code, which goes with fail"
	}
	if _, err := regexp.Compile(c.Like); err != nil {
		return fmt.Sprintf("has a pattern that cannot be read: %v", err)
	}
	for name := range c.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Sprintf("has a file %q that is not below the workspace", name)
		}
	}
	return ""
}

func badCases(file, what string, cause error) error {
	return fault.New(fault.Usage, "bad-cases", "%s is not a file of cases: %s", file, what).At(file, "", 0, 0).Because(cause)
}
