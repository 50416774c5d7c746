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
// author or a caller wrote is made visible first (mask.Visible). A blank template becomes
// DefaultTemplate after the risk level, if there is one.
func Prompt(template, toolName, maskedArgs, level string) string {
	if strings.TrimSpace(template) == "" {
		template = DefaultTemplate
		if level != "" {
			template = "[risk " + level + "] " + template
		}
	}
	lines := strings.Split(strings.ReplaceAll(template, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = mask.Visible(l)
	}
	return strings.NewReplacer("{toolName}", mask.Visible(toolName), "{args}", mask.Visible(maskedArgs)).
		Replace(strings.Join(lines, "\n"))
}
