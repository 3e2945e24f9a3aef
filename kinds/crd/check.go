package crd

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// CheckFieldPaths reports rules with an invalid fieldPath in the schema s at path. It needs no
// types, so the schema may have other errors.
func (c *Compiler) CheckFieldPaths(s tree.Tree, path string, faults *schema.Faults) {
	if declaresKey(s, "fieldPath") {
		c.extensions.compile(s).checkFieldPaths(path, c.extensions.Validations, faults)
	}
}

func (n *node) checkFieldPaths(path, validations string, faults *schema.Faults) {
	if !n.hasRules {
		return
	}
	if n.additional != nil {
		n.additional.checkFieldPaths(path+".additionalProperties", validations, faults)
	}
	for _, name := range n.names {
		n.properties[name].checkFieldPaths(tree.KeyPath(path+".properties", name), validations, faults)
	}
	if n.items != nil {
		n.items.checkFieldPaths(path+".items", validations, faults)
	}
	for i, rule := range n.rules {
		at, field := tree.IndexPath(path+"."+validations, i)+".fieldPath", rule.String("fieldPath")
		if field == "" {
			continue
		}
		if strings.TrimSpace(field) == "" {
			faults.Invalid(at, field, "must be non-empty if specified")
		}
		if strings.ContainsAny(field, "\r\n") {
			faults.Invalid(at, field, "must not contain line breaks")
		}
		if _, err := n.fieldPath(field); err != nil {
			faults.Invalid(at, field, "must be a valid path")
		}
	}
}

// CheckRules reports rules with invalid expressions or excessive costs in the schema s at path. The
// schema must otherwise be valid.
//
// The check may be slow, because it runs only when a CRD is written. Rules are compiled again,
// without cost estimates, when they first run.
func (c *Compiler) CheckRules(s tree.Tree, path string, faults *schema.Faults) {
	if !declaresKey(s, c.extensions.Validations) {
		return
	}
	root := c.extensions.compile(s)
	root.prepareRules()
	check := ruleChecker{naming: c.naming, name: c.extensions.Validations, faults: faults}
	check.node(root, path, ruleContext{cardinality: cardinality{1, true}})
	check.total.report(check.name, path, faults)
}

// declaresKey reports whether a tree contains a key at any depth. Most schemas have no rules, so
// callers use it to skip compilation.
func declaresKey(v any, key string) bool {
	switch v := v.(type) {
	case tree.Tree:
		for name, below := range v {
			if name == key || declaresKey(below, key) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(below any) bool { return declaresKey(below, key) })
	}
	return false
}

type ruleContext struct {
	uncorrelatable string // path of the enclosing list whose elements have no previous values, or ""
	cardinality    cardinality
}

type ruleChecker struct {
	naming *meta.Naming
	name   string // name of the rules extension
	faults *schema.Faults
	total  totalCost
}

// node checks the rules of a node after those of its children, which is kube-apiserver's order.
// Below a list, oldSelf is valid only if the list has keys. Elements of other lists have no known
// previous value, because insertions shift them.
func (c *ruleChecker) node(n *node, path string, p ruleContext) {
	if !n.hasRules {
		return
	}
	below := ruleContext{p.uncorrelatable, p.cardinality.below(n)}
	if n.additional != nil {
		c.node(n.additional, path+".additionalProperties", below)
	}
	for _, name := range n.names {
		c.node(n.properties[name], tree.KeyPath(path+".properties", name), below)
	}
	if n.items != nil {
		if below.uncorrelatable == "" && n.listType != "map" {
			below.uncorrelatable = path
		}
		c.node(n.items, path+".items", below)
	}
	compiler := ruleCompiler{naming: c.naming, self: n.selfType, withEstimate: true}
	const compilation = 10_000 // steps to compile a rule
	for i, source := range n.rules {
		if !c.faults.Work.Spend(compilation) {
			return
		}
		r, fault := compiler.compile(n, source)
		c.rule(n, r, fault, tree.IndexPath(path+"."+c.name, i), p)
	}
}

// rule reports the errors of one rule: excessive costs, a compile error, or wrong use of oldSelf.
// It also rejects optionalOldSelf in a rule without oldSelf, where it has no effect.
func (c *ruleChecker) rule(n *node, r *rule, fault *ruleFault, at string, p ruleContext) {
	if r.check != nil {
		c.cost(at+".rule", "estimated rule cost", times(r.cost, p.cardinality.of(n.selfType)))
	}
	if fault != nil {
		c.faults.Report(meta.CauseInvalid, at+"."+fault.member, "Invalid value: "+formatRule(r.source), fault.err.Error())
	}
	if r.message != nil {
		c.cost(at+".messageExpression", "estimated messageExpression cost", r.messageCost)
	}
	switch {
	case r.transition && p.uncorrelatable != "":
		c.faults.Invalid(at+".rule", r.source["rule"], "oldSelf cannot be used on the uncorrelatable portion of the schema within "+p.uncorrelatable)
	case !r.transition && r.source["optionalOldSelf"] != nil:
		c.faults.Invalid(at+".optionalOldSelf", r.source["optionalOldSelf"], "may not be set if oldSelf is not used in rule")
	}
}

func (c *ruleChecker) cost(path, what string, cost uint64) {
	if cost > cel.EstimatedRuleLimit {
		c.faults.Forbidden(path, costMessage(what, cost, cel.EstimatedRuleLimit))
	}
	c.total.add(path, cost)
}

// formatRule formats a rule with the field names of kube-apiserver's Go struct, as in its errors.
func formatRule(r tree.Tree) string {
	quote := func(name string) string {
		b, err := json.Marshal(r.String(name))
		if err != nil {
			return `""`
		}
		return string(b)
	}
	reason, optional := "null", "null"
	if r["reason"] != nil {
		reason = quote("reason")
	}
	if flag, ok := r["optionalOldSelf"].(bool); ok {
		optional = strconv.FormatBool(flag)
	}
	return `{"Rule":` + quote("rule") + `,"Message":` + quote("message") + `,"MessageExpression":` + quote("messageExpression") +
		`,"Reason":` + reason + `,"FieldPath":` + quote("fieldPath") + `,"OptionalOldSelf":` + optional + `}`
}
