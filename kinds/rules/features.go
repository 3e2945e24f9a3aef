package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropDisabled takes out of an object the fields that belong to features that are off, as long as the object as it was
// before uses none of the same feature; old is nil for a new object. It writes to the parts of object that it changes,
// which therefore belong to the caller.
//
// The usual object has none of these fields, and then old is not looked at.
func DropDisabled(k *schema.Kind, object, old tree.Tree) {
	if !dropsFields(k) {
		return
	}
	plan := k.Message().Values
	var kept map[string]bool
	visitFeatured(plan.Parts, object, func(part tree.Tree, f *schema.FeaturedPart) {
		if kept == nil {
			kept = featuresOf(plan.Parts, old)
		}
		if !kept[f.Feature] {
			delete(part, f.Name)
		}
	})
}

// HasFeatured tells whether an object has fields that belong to features that are off, which DropDisabled may drop.
func HasFeatured(k *schema.Kind, object tree.Tree) bool {
	if !dropsFields(k) {
		return false
	}
	return len(featuresOf(k.Message().Values.Parts, object)) > 0
}

// dropsFields tells whether a kind has fields that belong to features that are off.
func dropsFields(k *schema.Kind) bool {
	plan := k.Message().Values
	return plan != nil && plan.Parts != nil && len(plan.Parts.Featured) > 0
}

// featuresOf are the features that an object uses.
func featuresOf(p *schema.Parts, object tree.Tree) map[string]bool {
	used := map[string]bool{}
	visitFeatured(p, object, func(_ tree.Tree, f *schema.FeaturedPart) { used[f.Feature] = true })
	return used
}

// visitFeatured calls visit for each field of t that belongs to a feature and has a value, with the object that it is a
// field of. A single object of which visit has left nothing is deleted, as it says nothing any more.
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
				if visitFeatured(f.Parts, v, visit); before > 0 && len(v) == 0 {
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

// visitPart does so for an item of a list, or an entry of a map.
func visitPart(p *schema.Parts, v any, visit func(part tree.Tree, f *schema.FeaturedPart)) {
	if part, ok := v.(tree.Tree); ok {
		visitFeatured(p, part, visit)
	}
}
