package admissionpolicy

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/tree"
)

func staticMessage(validation tree.Tree) string {
	if text := strings.TrimSpace(validation.String("message")); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(validation.String("expression"))
}

// evaluatedMessage returns the text of a message expression's result, or "" if it is unusable. It
// rejects line breaks, because a Warning header cannot contain them.
func evaluatedMessage(v cel.Value) string {
	text, ok := cel.Text(v)
	text = strings.TrimSpace(text)
	if !ok || len(text) > cel.MaxMessage || strings.Contains(text, "\n") {
		return ""
	}
	return text
}
