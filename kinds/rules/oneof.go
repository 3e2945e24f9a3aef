package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// oneOf asks for one of some fields of an object. An empty object is one, an empty list is none.
//
// With two of them, the second is reported as forbidden, at its own path; with none, the object is what lacks a value. Either message may be left out,
// and then that case is allowed.
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
