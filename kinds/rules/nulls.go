package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateNulls reports the null fields that defaulting would drop: those whose plan neither allows
// null nor has a default.
func ValidateNulls(p *schema.ValuePlan, t tree.Tree, faults *schema.Faults) {
	validateNulls(schema.NewEvaluation("", faults), p, t)
}

func validateNulls(e *schema.Evaluation, p *schema.ValuePlan, v any) {
	switch v := v.(type) {
	case tree.Tree:
		if p.Parts == nil {
			return
		}
		for _, name := range v.SortedKeys() {
			below := p.Parts.Child(name)
			if below == nil || p.Parts.IsResource && schema.IsResourceField(name) {
				continue
			}
			back := e.EnterField(name)
			if v[name] == nil && below.DropNull && below.Default == nil {
				e.Run(below, nil, schema.Previous{})
			}
			validateNulls(e, below, v[name])
			e.Leave(back)
		}
	case []any:
		for i, item := range v {
			if p.Items != nil {
				back := e.EnterItem(i)
				validateNulls(e, p.Items, item)
				e.Leave(back)
			}
		}
	}
}
