package catalog

import (
	"fmt"
	"maps"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// attachFunctions gives the built-in kinds the strategies and views that kinds lists. A kind that
// is listed and not declared, or listed twice, is a mistake, and so is a kind that lacks the
// conversion that it needs.
func (b *builtIns) attachFunctions(kinds []family.Kind) error {
	listed := map[*schema.Kind]bool{}
	for _, functions := range kinds {
		k, err := b.kind(functions.Name)
		if err != nil {
			return err
		}
		if listed[k] {
			return fmt.Errorf("%s is listed twice", functions.Name)
		}
		listed[k] = true
		if functions.Strategy == nil {
			functions.Strategy = schema.DefaultStrategy{}
		}
		k.SetStrategy(functions.Strategy)
		if err := attachViews(k, functions.Views); err != nil {
			return err
		}
	}
	for _, k := range b.set.all {
		if k.Stored != k && k.Conversion == nil {
			return fmt.Errorf("%s %s is stored in another version and has no conversion", k.APIVersion(), k.Kind)
		}
		attachDefaultViews(k)
	}
	return nil
}

// kind finds the kind of "group/version/Kind", the group in platform form. A function for a kind
// that is not declared is a mistake in this program, found when it starts.
func (b *builtIns) kind(name string) (*schema.Kind, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not group/version/Kind", name)
	}
	k := b.set.byKind[meta.GroupVersionKind{Group: b.naming.Translate(parts[0]), Version: parts[1], Kind: parts[2]}]
	if k == nil {
		return nil, fmt.Errorf("%s has functions and is not declared", name)
	}
	return k, nil
}

// attachViews gives sub-resources the functions by which their bodies are read and written.
func attachViews(k *schema.Kind, views family.Views) error {
	for name, view := range views {
		s := k.Subresource(name)
		if s == nil {
			return fmt.Errorf("%s has no sub-resource %s to view", k.Kind, name)
		}
		s.View = view
	}
	return nil
}

// attachDefaultViews gives status and scale the views that all kinds share, where they have none. Kinds
// with rules about their status have views of their own.
func attachDefaultViews(k *schema.Kind) {
	for i := range k.Subresources {
		s := &k.Subresources[i]
		switch {
		case s.View.Write != nil:
		case s.Name == "status":
			s.View.Write = writeStatus(k.Stored)
		case s.Scale != nil && k.IsCustom():
			s.View = scaleView(s.Scale)
		case s.Scale != nil:
			s.View = validatedScaleView(s.Scale)
		}
	}
}

// writeStatus returns the View.Write that replaces the status, and checks the rules for that.
func writeStatus(k *schema.Kind) func(obj, body tree.Tree, now string, faults *schema.Faults) error {
	return func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		check, old := k.Declared.Checks().Status, tree.Tree(nil)
		if check != nil {
			old = maps.Clone(obj)
		}
		obj.CopyField(body, "status")
		schema.Run(check, obj, old, "", faults)
		return nil
	}
}
