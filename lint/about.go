package lint

import (
	"io/fs"
	"strings"

	"github.com/toolwarrant/toolwarrant/docs"
	"github.com/toolwarrant/toolwarrant/fault"
)

// pagesURL is where people read docs/.
const pagesURL = "https://github.com/toolwarrant/toolwarrant/blob/main/docs/"

// about is what a report says about a rule, beside its findings.
type about struct {
	Title string // one sentence
	Help  string // Markdown
	URL   string
}

// codes are the findings that have no rule of their own: many checks share
// them, and their message says which one it was.
var codes = map[string]string{
	string(fault.SpecParse):      "The text is not JSON, or breaks the JSON Schema of a document.",
	string(fault.SpecInvariant):  "What has to hold between the fields of a document does not.",
	string(fault.ResolverReject): "The policy would refuse the document.",
}

// aboutRule reads the page of a rule. A rule that a team wrote itself has no
// page here; its METADATA title stands in.
func aboutRule(id string, titles map[string]string) about {
	if text, ok := codes[id]; ok {
		url := pagesURL + "lint.md#" + strings.ToLower(id)
		return about{Title: text, Help: text + " The message of the finding says which check it was. [More](" + url + ").", URL: url}
	}
	page, err := fs.ReadFile(docs.Rules, "rules/"+id+".md")
	if err != nil {
		title := titles[id]
		if title == "" {
			title = id
		}
		return about{Title: title, Help: title, URL: pagesURL + "lint.md#rules-of-your-own"}
	}
	text := strings.ReplaceAll(string(page), "\r\n", "\n")
	return about{Title: meaning(text), Help: text, URL: pagesURL + "rules/" + id + ".md"}
}

// meaning is the sentence of a page that says what its rule means.
func meaning(page string) string {
	_, rest, ok := strings.Cut(page, "**What it means.** ")
	if !ok {
		return strings.TrimPrefix(strings.SplitN(page, "\n", 2)[0], "# ")
	}
	text, _, _ := strings.Cut(rest, "\n\n")
	return strings.Join(strings.Fields(text), " ")
}
