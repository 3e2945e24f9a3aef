package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// oneOf requires one of several fields of an object. An empty object counts as set, an empty list
// does not.
//
// Every set field after the first is reported as forbidden at its path; if none is set, the object
// is reported as missing its value. An empty message disables that check.
type oneOf schema.OneOf

func (o oneOf) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	t, ok := v.(tree.Tree)
	if !ok {
		return
	}
	count := 0
	for _, name := range o.Fields {
		if list, isList := t[name].([]any); isList && len(list) == 0 || t[name] == nil {
			continue
		}
		if count++; count > 1 && o.Many != "" {
			e.Forbidden(e.PathOf(name), o.Many)
		}
	}
	if count == 0 && o.None != "" {
		e.Required(e.Path(), o.None)
	}
}
