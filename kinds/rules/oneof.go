package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// oneOf requires exactly one of several fields of an object. An empty object counts as set, but an
// empty list does not.
//
// Each set field after the first is reported as forbidden. If none is set, the object is reported
// as required. An empty error message disables the respective check.
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
