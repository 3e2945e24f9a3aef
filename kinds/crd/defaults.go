package crd

import (
	"context"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// CheckDefaults reports defaults in the structural schema s at path that violate their own schema
// or have unknown fields. It does not check defaults inside metadata, which the schema does not
// describe.
//
// It does not apply the defaults of a default's parts, because defaulting inserts a default as is.
func (c *Compiler) CheckDefaults(s tree.Tree, path string, faults *schema.Faults) {
	root := c.extensions.compile(s)
	if root.hasRules {
		root.prepareRules()
	}
	d := defaultChecker{naming: c.naming, metadata: c.objectMeta, faults: faults, budget: cel.NewBudget(cel.RuntimeBudget)}
	if root.defaultValue != nil {
		d.check(root, path+".default", true)
		object, _ := root.defaultValue.(tree.Tree)
		for _, name := range []string{"apiVersion", "kind"} { // required in every embedded object
			if object.String(name) == "" {
				faults.Required(path + ".default." + name)
			}
		}
	}
	d.parts(root, path, true)
}

// A defaultChecker checks the defaults of one schema, whose rules share one budget.
type defaultChecker struct {
	naming   *meta.Naming
	metadata *schema.Message // object metadata
	faults   *schema.Faults
	budget   *cel.Budget
}

func (d *defaultChecker) node(n *node, path string) {
	if n.defaultValue != nil {
		d.check(n, path+".default", false)
	}
	d.parts(n, path, n.embedded)
}

// parts checks the defaults of nested values, except below additionalProperties.
func (d *defaultChecker) parts(n *node, path string, isResource bool) {
	if n.items != nil {
		d.node(n.items, path+".items")
	}
	for _, name := range n.names {
		if !isResource || !schema.IsResourceField(name) {
			d.node(n.properties[name], tree.KeyPath(path+".properties", name))
		}
	}
}

// check checks the fields and values of a default, and then its CEL rules. The rules must accept
// the default both as a new value and as an unchanged one.
func (d *defaultChecker) check(n *node, path string, isResource bool) {
	plan, v := n.values(false), n.defaultValue
	if isResource && plan.Parts != nil {
		plan.Parts.IsResource = true
	}
	if _, unknown := rules.PruneValue(plan, v); len(unknown) > 0 {
		d.faults.Invalid(path, v, "must not have unknown fields")
	}
	by := coercer{metadata: d.metadata}
	by.EnterPath(path)
	if by.value(n, v); len(by.faults.List) > 0 {
		d.faults.Add(by.faults.List[0])
		return
	}
	var found schema.Faults
	n.validateEmbedded(v, &tree.Position{}, &found)
	schema.NewEvaluation("", &found).Check(plan, v, schema.Previous{})
	if found.List = withoutDuplicates(found.List); len(found.List) == 0 && n.hasRules {
		for _, was := range []schema.Previous{{}, {Value: v, Exists: true}} {
			e := ruleEvaluator{ctx: context.Background(), naming: d.naming, faults: &found, budget: d.budget}
			if e.evaluate(n, v, was, false); len(found.List) > 0 {
				break
			}
		}
	}
	for _, c := range found.List {
		if c.Field != "" && c.Field[0] != '[' {
			c.Field = "." + c.Field
		}
		c.Field = path + c.Field
		d.faults.Add(c)
	}
}

func withoutDuplicates(causes []meta.Cause) (kept []meta.Cause) {
	for _, c := range causes {
		if c.Type != meta.CauseDuplicate {
			kept = append(kept, c)
		}
	}
	return kept
}
