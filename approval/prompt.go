package approval

import (
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/mask"
)

// DefaultTemplate is the prompt of a tool whose template is blank.
const DefaultTemplate = "Approve running tool '{toolName}' with arguments {args}?"

// Prompt fills a prompt template: {toolName} and {args}, literally and in one
// pass, so that argument text which contains a placeholder stays text. Other
// spellings, such as {args.path}, are no placeholders. Everything that an
// author or a caller wrote is made visible first (mask.Visible), line breaks
// too, so that no template can draw what looks like another question. A blank
// template becomes DefaultTemplate after the risk level, if there is one. A
// template that does not show the arguments gets them on a line of their own:
// nobody accepts what is not shown.
func Prompt(template, toolName, maskedArgs, level string) string {
	if strings.TrimSpace(template) == "" {
		template = DefaultTemplate
		if level != "" {
			template = "[risk " + level + "] " + template
		}
	}
	template = mask.Visible(template)
	if !strings.Contains(template, "{args}") {
		template += "\nTool {toolName}, arguments {args}"
	}
	return strings.NewReplacer("{toolName}", mask.Visible(toolName), "{args}", mask.Visible(maskedArgs)).Replace(template)
}
