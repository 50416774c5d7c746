package lint

import (
	"io"
	"strings"

	"github.com/toolwarrant/toolwarrant/internal/junit"
)

// JUnit writes one test case for each finding and one for each file without
// any. Errors alone fail, as they alone make the command answer no.
func JUnit(w io.Writer, r Report) error {
	suite := junit.Suite{Name: "toolwarrant lint"}
	found := map[string]bool{}
	for _, f := range r.Findings {
		found[f.File] = true
		text := strings.TrimSuffix(textLine(f), "\n")
		c := junit.Case{Class: visible(f.File), Name: strings.TrimSpace(f.RuleID + " " + visible(f.Pointer))}
		if f.Severity == Error {
			c.Failure = &junit.Failure{Type: f.RuleID, Message: visible(f.Message), Text: text}
		} else {
			c.Out = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, file := range r.files {
		if !found[file] {
			suite.Cases = append(suite.Cases, junit.Case{Class: visible(file), Name: "lint"})
		}
	}
	return suite.Write(w)
}
