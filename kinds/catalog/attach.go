package catalog

import (
	"fmt"
	"maps"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// attachFunctions sets the strategies and views of the listed built-in kinds. It returns an error
// if a kind is undeclared, is listed twice, or lacks a conversion.
func (b *builtIns) attachFunctions(kinds []schema.Behavior) error {
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
		if k.SameAs && k.Stored != k && !listed[k] {
			k.ShareFunctions()
		}
		if k.Stored != k && k.Conversion == nil {
			return fmt.Errorf("%s %s is stored in another version and has no conversion", k.APIVersion(), k.Kind)
		}
		attachDefaultViews(k)
	}
	return nil
}

func (b *builtIns) kind(name string) (*schema.Kind, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not group/version/Kind", name)
	}
	k := b.set.byKind[meta.GroupVersionKind{Group: b.naming.Translate(parts[0]), Version: parts[1], Kind: parts[2]}]
	if k == nil {
		return nil, fmt.Errorf("%s has functions but is not declared", name)
	}
	return k, nil
}

func attachViews(k *schema.Kind, views schema.Views) error {
	for name, view := range views {
		s := k.Subresource(name)
		if s == nil {
			return fmt.Errorf("%s has no sub-resource %s to view", k.Kind, name)
		}
		s.View = view
	}
	return nil
}

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

func writeStatus(k *schema.Kind) func(obj, body tree.Tree, now string, faults *schema.Faults) error {
	return func(obj, body tree.Tree, now string, faults *schema.Faults) error {
		check, old := k.Declared.Message().Checks().Status, tree.Tree(nil)
		if check != nil {
			old = maps.Clone(obj)
		}
		obj.CopyField(body, "status")
		faults.Now = now
		schema.Run(check, obj, old, "", faults)
		return nil
	}
}
