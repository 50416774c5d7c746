package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/spec"
)

// word is what could be the name of a tool in a text.
var word = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// mentions are the names of other tools that the texts of a document hold,
// sorted. Finding them takes as long as the text is, however many names there
// are; what a mention means is for the policy to say.
func (l *linter) mentions(s *spec.Spec) []string {
	texts := []string{s.Description}
	for _, p := range s.Params {
		texts = append(texts, p.Description)
	}
	if h := s.HumanInTheLoop; h != nil && h.PromptTemplate != nil {
		texts = append(texts, *h.PromptTemplate)
	}
	var out []string
	for _, text := range texts {
		for _, w := range word.FindAllString(text, -1) {
			if name, ok := l.tools[strings.ToLower(w)]; ok && !strings.EqualFold(name, s.Name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
