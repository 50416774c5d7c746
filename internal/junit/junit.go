// Package junit writes the reports that continuous integration reads as test
// results.
package junit

import (
	"encoding/xml"
	"io"
)

// Suite is one report. Write counts its cases and failures.
type Suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Cases    []Case   `xml:"testcase"`
}

// Case is one test. It passed when Failure is nil.
type Case struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *Failure `xml:"failure,omitempty"`
	Out     string   `xml:"system-out,omitempty"`
}

// Failure says why a test failed.
type Failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Write writes the report as an XML document. The error is that of w.
func (s Suite) Write(w io.Writer) error {
	s.Tests, s.Failures = len(s.Cases), 0
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
	}
	out, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(out)+"\n")
	return err
}
