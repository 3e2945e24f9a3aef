package crd

import (
	"cmp"
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// newStrategy returns the strategy of a kind, whose Stored field must be set.
func newStrategy(k *schema.Kind) schema.Strategy {
	own := schemaOf(k)
	s := strategy{kind: k, own: own, hasExpressions: own.declaresRules()}
	if k.Stored == k {
		return &s
	}
	return &versionStrategy{s}
}

type strategy struct {
	schema.DefaultStrategy
	kind           *schema.Kind
	own            *definedSchema
	hasExpressions bool
}

type versionStrategy struct{ strategy }

// FromStored prunes and defaults t with the schema of the strategy's version. It modifies t, so
// callers pass a clone.
func (s *versionStrategy) FromStored(t tree.Tree) tree.Tree {
	values := s.own.Message().Values
	t, _ = rules.Prune(values, t)
	rules.DefaultValue(values, t)
	return t
}

func (*versionStrategy) ToStored(t tree.Tree) tree.Tree { return t }

func (s *versionStrategy) Keep(t tree.Tree) tree.Tree {
	t, _ = rules.Prune(schemaOf(s.kind.Stored).Message().Values, t)
	return t
}

// served converts a stored object to the kind's version. A write is validated only against the
// schema of the client's version.
func (s *strategy) served(t tree.Tree) tree.Tree {
	if s.kind.Conversion == nil || t == nil {
		return t
	}
	return s.kind.Conversion.FromStored(tree.Clone(t).(tree.Tree))
}

func (s *strategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	before := len(faults.List)
	compiled, shown := s.own.load(), s.served(obj)
	rules.ValidateValue(compiled.message.Values, shown, s.served(old), faults)
	compiled.embedding.validateEmbedded(shown, &tree.Position{}, faults)
	if scale := s.kind.Subresource("scale"); scale != nil {
		validateScale(scale.Scale, shown, s.served(old), faults)
	}
	nameWhole(faults.List[before:])
}

func (s *strategy) HasExpressions() bool { return s.hasExpressions }

func (s *strategy) Evaluate(ctx context.Context, obj, old tree.Tree, faults *schema.Faults) {
	set := s.own.load().rules
	if set == nil {
		return
	}
	before := len(faults.List)
	set.evaluate(ctx, s.served(obj), s.served(old), faults)
	nameWhole(faults.List[before:])
}

func nameWhole(causes []meta.Cause) {
	for i := range causes {
		causes[i].Field = cmp.Or(causes[i].Field, schema.WholeObject)
	}
}

// Warnings returns a warning for each new finalizer whose name has no domain.
func (*strategy) Warnings(obj, old tree.Tree) []string {
	return rules.FinalizerWarnings(obj.Object("metadata"), old.Object("metadata"))
}

func (*strategy) WarnsOnNoOp() bool { return true }

func (*strategy) AllowsUnqualifiedFinalizers() bool { return true }
