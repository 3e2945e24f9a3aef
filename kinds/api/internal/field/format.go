package field

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// MessageText checks the message of a CEL rule. The message must be a single line, and is required
// if the expression has several lines. what names the expression in error messages.
func MessageText(v tree.Tree, expression, what, path string, faults *schema.Faults) {
	text := v.String("message")
	trimmed := strings.TrimSpace(text)
	switch {
	case text != "" && trimmed == "":
		faults.Invalid(path+".message", text, "must be non-empty if specified")
	case strings.ContainsAny(trimmed, "\r\n"):
		faults.Invalid(path+".message", text, "must not contain line breaks")
	case strings.ContainsAny(expression, "\r\n") && trimmed == "":
		faults.Required(path+".message", "message must be specified if "+what+" contains line breaks")
	}
}

// Format checks a field with a function such as rules.Label. It ignores an empty field, because
// Require or a declarative rule reports it.
func Format(t tree.Tree, name, path string, faults *schema.Faults, check func(string) []string) {
	s := t.String(name)
	if s == "" {
		return
	}
	for _, msg := range check(s) {
		faults.Invalid(tree.FieldPath(path, name), s, msg)
	}
}
