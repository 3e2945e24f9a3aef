package field

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// KindName checks the name of a kind: a label, but for upper case.
func KindName(name, path string, faults *schema.Faults) {
	if messages := rules.Label1035(strings.ToLower(name)); len(messages) > 0 {
		faults.Invalid(path, name, "may have mixed case, but should otherwise match: "+strings.Join(messages, ","))
	}
}

// MessageText checks the message of an expression, which is one line, and must be
// there if the expression, which what names, is more than one.
func MessageText(v tree.Tree, expression, what, path string, faults *schema.Faults) {
	text := v.String("message")
	trimmed := strings.TrimSpace(text)
	switch {
	case text != "" && trimmed == "":
		faults.Invalid(path+".message", text, "message must be non-empty if specified")
	case strings.ContainsAny(trimmed, "\r\n"):
		faults.Invalid(path+".message", text, "message must not contain line breaks")
	case strings.ContainsAny(expression, "\r\n") && trimmed == "":
		faults.Required(path+".message", "message must be specified if "+what+" contains line breaks")
	}
}

// Format checks a text, if there is one, by a format of package rules.
func Format(t tree.Tree, name, path string, faults *schema.Faults, check func(string) []string) {
	s := t.String(name)
	if s == "" {
		return
	}
	for _, msg := range check(s) {
		faults.Invalid(tree.FieldPath(path, name), s, msg)
	}
}
