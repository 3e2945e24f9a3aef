package custom

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// CheckRules reports the faults of the rules in a schema, which is at a path and otherwise valid: of their expressions,
// and of the fields that they refer to.
func (c *Compiler) CheckRules(s tree.Tree, path string, faults *schema.Faults) {
	check := ruleChecker{name: c.extensions.Validations, faults: faults}
	check.node(c.extensions.compile(s), path, ruleContext{isResourceRoot: true})
}

// A ruleContext is what the position of rules in a schema means for them.
type ruleContext struct {
	isResourceRoot bool   // their values are objects with kind and metadata
	uncorrelatable string // path of the list around them whose elements have no previous values; "" if there is none
}

type ruleChecker struct {
	name   string // of the extension
	faults *schema.Faults
}

func (c *ruleChecker) node(n *node, path string, p ruleContext) {
	if !n.hasRules {
		return
	}
	c.rules(n, path, p)
	for _, name := range n.names {
		below := n.properties[name]
		c.node(below, tree.KeyPath(path+".properties", name), ruleContext{below.embedded, p.uncorrelatable})
	}
	if n.additional != nil {
		c.node(n.additional, path+".additionalProperties", ruleContext{n.additional.embedded, p.uncorrelatable})
	}
	if n.items != nil {
		uncorrelatable := p.uncorrelatable
		if uncorrelatable == "" && n.listType != "map" {
			uncorrelatable = path
		}
		c.node(n.items, path+".items", ruleContext{n.items.embedded, uncorrelatable})
	}
}

func (c *ruleChecker) rules(n *node, path string, p ruleContext) {
	if len(n.rules) == 0 {
		return
	}
	compiled, wrong := n.compileRules(p.isResourceRoot)
	for i, source := range n.rules {
		at := tree.IndexPath(path+"."+c.name, i)
		if fault, found := wrong[i]; found {
			c.faults.Report(meta.CauseInvalid, at+"."+fault.member, "Invalid value: "+formatRule(source), fault.err.Error())
			continue
		}
		if field := source.String("fieldPath"); field != "" && !n.hasPath(field) {
			c.faults.Invalid(at+".fieldPath", field, "must be a valid path")
		}
		r := compiled[0]
		compiled = compiled[1:]
		switch {
		case r.transition && p.uncorrelatable != "":
			c.faults.Invalid(at+".rule", source["rule"], "oldSelf cannot be used on the uncorrelatable portion of the schema within "+p.uncorrelatable)
		case !r.transition && source["optionalOldSelf"] != nil:
			c.faults.Invalid(at+".optionalOldSelf", source["optionalOldSelf"], "may not be set if oldSelf is not used in rule")
		}
	}
}

// hasPath tells whether a schema has a field at a path, as in ".spec.size".
func (n *node) hasPath(path string) bool {
	if !strings.HasPrefix(path, ".") {
		return false
	}
	for _, name := range strings.Split(path[1:], ".") {
		if n = n.child(name); n == nil {
			return false
		}
	}
	return true
}

// formatRule prints a rule as faults of the public API do.
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
