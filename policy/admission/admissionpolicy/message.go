package admissionpolicy

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/tree"
)

// staticMessage is what is said when a validation fails and no expression says it.
func staticMessage(validation tree.Tree) string {
	if text := strings.TrimSpace(validation.String("message")); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(validation.String("expression"))
}

// evaluatedMessage is what an expression says; "" if that cannot be a message. Line breaks cannot be sent
// in a Warning header; the static message then takes its place.
func evaluatedMessage(v cel.Value) string {
	text, ok := cel.Text(v)
	text = strings.TrimSpace(text)
	if !ok || len(text) > cel.MaxMessage || strings.Contains(text, "\n") {
		return ""
	}
	return text
}
