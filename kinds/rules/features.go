package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Featured returns the kind's plan if any field is behind a disabled feature gate, and otherwise
// nil.
func Featured(k *schema.Kind) *schema.Parts {
	plan := k.Message().Values
	if plan == nil || plan.Parts == nil || len(plan.Parts.Featured) == 0 {
		return nil
	}
	return plan.Parts
}

// DropDisabled removes fields behind disabled feature gates from object, unless old already uses
// the feature. old is nil for a new object. The caller must own the parts of object that change.
//
// Objects rarely have such fields, so old is read only if object has one.
func DropDisabled(featured *schema.Parts, object, old tree.Tree) {
	var kept map[string]bool
	visitFeatured(featured, object, func(part tree.Tree, f *schema.FeaturedPart) {
		if kept == nil {
			kept = featuresOf(featured, old)
		}
		if !kept[f.Feature] {
			delete(part, f.Name)
		}
	})
}

// HasFeatured reports whether object has fields behind disabled feature gates, which DropDisabled
// may remove.
func HasFeatured(featured *schema.Parts, object tree.Tree) bool {
	return len(featuresOf(featured, object)) > 0
}

func featuresOf(p *schema.Parts, object tree.Tree) map[string]bool {
	used := map[string]bool{}
	visitFeatured(p, object, func(_ tree.Tree, f *schema.FeaturedPart) { used[f.Feature] = true })
	return used
}

// visitFeatured calls visit for each set field of t that is behind a disabled feature gate. part is
// the object that contains the field. If visit removes the last field of a nested object,
// visitFeatured also deletes the object, unless it is a choice, such as a volume source.
func visitFeatured(p *schema.Parts, t tree.Tree, visit func(part tree.Tree, f *schema.FeaturedPart)) {
	for i := range p.Featured {
		f := &p.Featured[i]
		switch v := t[f.Name].(type) {
		case nil:
		case tree.Tree:
			switch before := len(v); {
			case f.Parts == nil:
				visit(t, f)
			case f.Shape == schema.Map:
				for _, entry := range v {
					visitPart(f.Parts, entry, visit)
				}
			default:
				if visitFeatured(f.Parts, v, visit); before > 0 && len(v) == 0 && !f.Keep {
					delete(t, f.Name)
				}
			}
		case []any:
			if f.Parts == nil {
				visit(t, f)
				continue
			}
			for _, item := range v {
				visitPart(f.Parts, item, visit)
			}
		default:
			visit(t, f)
		}
	}
}

func visitPart(p *schema.Parts, v any, visit func(part tree.Tree, f *schema.FeaturedPart)) {
	if part, ok := v.(tree.Tree); ok {
		visitFeatured(p, part, visit)
	}
}
