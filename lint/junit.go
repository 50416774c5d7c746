package lint

import (
	"encoding/xml"
	"io"
	"strings"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes one test case for each finding and one for each file without
// any. Errors alone fail, as they alone make the command answer no.
func JUnit(w io.Writer, r Report) error {
	suite := junitSuite{Name: "toolwarrant lint", Failures: r.Summary.Errors}
	found := map[string]bool{}
	for _, f := range r.Findings {
		found[f.File] = true
		text := strings.TrimSuffix(textLine(f), "\n")
		c := junitCase{Class: visible(f.File), Name: strings.TrimSpace(f.RuleID + " " + visible(f.Pointer))}
		if f.Severity == Error {
			c.Failure = &junitFailure{Type: f.RuleID, Message: visible(f.Message), Text: text}
		} else {
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, file := range r.files {
		if !found[file] {
			suite.Cases = append(suite.Cases, junitCase{Class: visible(file), Name: "lint"})
		}
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
