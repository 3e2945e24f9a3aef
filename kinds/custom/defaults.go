package custom

import (
	"context"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// CheckDefaults reports the defaults in a schema, which is at a path and structural, that are no valid values of their
// own schemas, or have fields that these do not know. Defaults inside of metadata are left out: they are those of every
// object.
//
// A default is checked as it is, without the defaults of what is in it: it is filled in as a whole.
func (c *Compiler) CheckDefaults(s tree.Tree, path string, faults *schema.Faults) {
	root := c.extensions.compile(s)
	if root.hasRules {
		root.prepareRules()
	}
	d := defaultChecker{naming: c.naming, metadata: c.objectMeta, faults: faults, budget: cel.NewBudget(cel.RuntimeBudget)}
	if root.defaultValue != nil {
		d.check(root, path+".default", true)
		object, _ := root.defaultValue.(tree.Tree)
		for _, name := range []string{"apiVersion", "kind"} { // as in every object that is embedded
			if object.String(name) == "" {
				faults.Required(path + ".default." + name)
			}
		}
	}
	d.parts(root, path, true)
}

// A defaultChecker checks the defaults of one schema. All rules that it runs share a budget, as those of an object do.
type defaultChecker struct {
	naming   *meta.Naming
	metadata *schema.Message // that of objects
	faults   *schema.Faults
	budget   *cel.Budget
}

// node checks the default of a schema, and those in it.
func (d *defaultChecker) node(n *node, path string) {
	if n.defaultValue != nil {
		d.check(n, path+".default", false)
	}
	d.parts(n, path, n.embedded)
}

// parts checks the defaults within a schema, but for those of the entries of maps.
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

// check holds one default against its schema: its fields, its values, and then its rules. The latter have to hold
// for a value that is new, and for one that stays.
func (d *defaultChecker) check(n *node, path string, isResource bool) {
	plan, v := n.values(false), n.defaultValue
	if isResource && plan.Parts != nil {
		plan.Parts.IsResource = true
	}
	if _, unknown := rules.PruneValue(plan, v); len(unknown) > 0 {
		d.faults.Invalid(path, v, "must not have unknown fields")
	}
	by := coercer{metadata: d.metadata}
	if by.value(n, v, path); len(by.faults.List) > 0 {
		d.faults.Add(by.faults.List[0])
		return
	}
	var found schema.Faults
	n.validateEmbedded(v, "", &found)
	schema.NewEvaluation("", &found).Check(plan, v, schema.Previous{})
	if found.List = withoutDuplicates(found.List); len(found.List) == 0 && n.hasRules {
		for _, was := range []schema.Previous{{}, {Value: v, Exists: true}} {
			e := ruleEvaluator{context.Background(), d.naming, &found, d.budget, false}
			if e.evaluate(n, v, was, false, ""); len(found.List) > 0 {
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

// withoutDuplicates are causes but those of items that are there twice, which are found when an object has the default.
func withoutDuplicates(causes []meta.Cause) (kept []meta.Cause) {
	for _, c := range causes {
		if c.Type != meta.CauseDuplicate {
			kept = append(kept, c)
		}
	}
	return kept
}
