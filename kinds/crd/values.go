package crd

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// rootValues returns the value plan of whole objects, whose type has already been checked. The
// plans of kind, apiVersion and metadata are empty, because the schema's defaults do not apply to
// them.
func (n *node) rootValues() *schema.ValuePlan {
	parts := n.parts()
	parts.IsResource = true
	checked := n.resourceParts(parts)
	for _, name := range schema.ResourceFields { // defaults of the schema do not apply to these
		parts.ByName[name] = &schema.ValuePlan{}
	}
	setDefaulted(parts)
	return &schema.ValuePlan{
		Parts:           parts,
		PreserveUnknown: n.preserveUnknown,
		Evaluators:      append(n.valueEvaluators(true), n.objectEvaluators(true, checked)...),
	}
}

// values returns the value plan for a schema. atRoot is true for a schema inside allOf, anyOf,
// oneOf or not of a root schema.
func (n *node) values(atRoot bool) *schema.ValuePlan {
	p := &schema.ValuePlan{
		Nullable: n.nullable, DropNull: !n.nullable, Default: n.defaultValue, DefaultSize: jsonSize(n.defaultValue),
		PreserveUnknown: n.preserveUnknown, Bare: n.isBare(),
	}
	if n.items != nil {
		p.Items = n.items.values(false)
	}
	var checked *schema.Parts
	if len(n.names) > 0 || n.additional != nil || n.embedded {
		p.Parts = n.parts()
		checked = p.Parts
	}
	if n.embedded {
		p.Parts.IsResource = true
		checked = n.resourceParts(p.Parts)
	}
	p.Evaluators = append(append(n.typeEvaluators(), n.valueEvaluators(atRoot)...), n.objectEvaluators(atRoot, checked)...)
	p.Evaluators = append(p.Evaluators, n.listEvaluators(p.Items)...)
	if n.nullable && len(n.enum) > 0 {
		p.Nullable = false
		p.Evaluators = []schema.Evaluator{nullableEnum{newEnum(n.enum), p.Evaluators}}
	}
	return p
}

// parts returns the value plans of an object's fields and map entries. Names are sorted, so that
// errors and defaults have a fixed order. n shares the slice of names.
func (n *node) parts() *schema.Parts {
	p := &schema.Parts{ByName: make(map[string]*schema.ValuePlan, len(n.names)), Names: n.names}
	for _, name := range n.names {
		p.ByName[name] = n.properties[name].values(false)
	}
	if n.additional != nil {
		p.Additional = n.additional.values(false)
	}
	setDefaulted(p)
	return p
}

// setDefaulted lists the fields that defaulting visits. Fields with defaults come first, because
// defaulting adds them if absent.
func setDefaulted(p *schema.Parts) {
	var present []schema.Part
	p.Defaulted = nil
	for _, name := range p.Names {
		switch plan := p.ByName[name]; {
		case plan.Default != nil:
			p.Defaulted = append(p.Defaulted, schema.Part{Name: name, ValuePlan: plan})
		case needsDefaulting(plan):
			present = append(present, schema.Part{Name: name, ValuePlan: plan})
		}
	}
	p.Filled = len(p.Defaulted)
	p.Defaulted = append(p.Defaulted, present...)
}

func needsDefaulting(p *schema.ValuePlan) bool {
	if p == nil {
		return false
	}
	return p.DropNull || p.Default != nil || needsDefaulting(p.Items) || p.Parts != nil && (len(p.Parts.Defaulted) > 0 || needsDefaulting(p.Parts.Additional))
}

// resourceParts returns the fields to validate in an object with kind, apiVersion and metadata. In
// the metadata, it validates only name and generateName.
func (n *node) resourceParts(all *schema.Parts) *schema.Parts {
	p := &schema.Parts{ByName: make(map[string]*schema.ValuePlan, len(all.ByName)), Additional: all.Additional, Names: all.Names, IsResource: true}
	for name, plan := range all.ByName {
		if !schema.IsResourceField(name) {
			p.ByName[name] = plan
		}
	}
	if metadata := n.properties["metadata"]; metadata != nil {
		p.ByName["metadata"] = metadata.nameValues()
	}
	return p
}

// nameValues returns the value plan of metadata, with constraints only on name and generateName. As
// in kube-apiserver, every write validates them.
func (n *node) nameValues() *schema.ValuePlan {
	names := &schema.Parts{Ordered: true}
	for _, name := range []string{"name", "generateName"} {
		if property := n.properties[name]; property != nil {
			plan := property.values(false)
			plan.Absence = schema.AbsentIfNull
			names.Checked = append(names.Checked, schema.Part{Name: name, ValuePlan: plan})
		}
	}
	return &schema.ValuePlan{Recheck: true, Evaluators: []schema.Evaluator{asNew{rules.Fields{Parts: names}}}}
}

// An asNew evaluator validates values as if they had no previous value.
type asNew struct{ schema.Evaluator }

func (a asNew) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	a.Evaluator.Evaluate(e, v, schema.Previous{})
}

// jsonSize returns a lower bound on a value's size as JSON, in bytes. Defaulting limits the total
// size of added defaults, so that a small object cannot become huge.
func jsonSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case tree.Tree:
		sum := 2
		for key, item := range v {
			sum += len(key) + 4 + jsonSize(item)
		}
		return sum
	case []any:
		sum := 2
		for _, item := range v {
			sum += 1 + jsonSize(item)
		}
		return sum
	}
	return 1
}
