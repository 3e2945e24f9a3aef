package custom

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// CheckRules reports what is wrong with the expressions of the rules in a schema, which is valid
// otherwise and stands at a path, and with the fields that they point to.
func (c *Compiler) CheckRules(s schema.Tree, path string, faults *schema.Faults) {
	check := ruleCheck{name: c.keys.Validations, faults: faults}
	check.node(c.keys.compile(s), path, place{own: true})
}

// A place is where rules stand.
type place struct {
	own  bool   // on objects with kind and metadata
	lost string // the list whose elements cannot be told from those before; "" if there is none
}

type ruleCheck struct {
	name   string // of the extension
	faults *schema.Faults
}

func (c *ruleCheck) node(n *node, path string, p place) {
	if !n.hasRules {
		return
	}
	c.rules(n, path, p)
	for _, name := range n.names {
		below := n.properties[name]
		c.node(below, rules.Key(path+".properties", name), place{below.embedded, p.lost})
	}
	if n.additional != nil {
		c.node(n.additional, path+".additionalProperties", place{n.additional.embedded, p.lost})
	}
	if n.items != nil {
		lost := p.lost
		if lost == "" && n.listType != "map" {
			lost = path
		}
		c.node(n.items, path+".items", place{n.items.embedded, lost})
	}
}

func (c *ruleCheck) rules(n *node, path string, p place) {
	if len(n.rules) == 0 {
		return
	}
	compiled, wrong := n.compileRules(p.own)
	for i, source := range n.rules {
		at := rules.At(path+"."+c.name, i)
		if fault, found := wrong[i]; found {
			c.faults.Report(meta.CauseInvalid, at+"."+fault.member, "Invalid value: "+shownRule(source), fault.err.Error())
			continue
		}
		if field := rules.Text(source, "fieldPath"); field != "" && !n.leads(field) {
			c.faults.Invalid(at+".fieldPath", field, "must be a valid path")
		}
		r := compiled[0]
		compiled = compiled[1:]
		switch {
		case r.transition && p.lost != "":
			c.faults.Invalid(at+".rule", source["rule"], "oldSelf cannot be used on the uncorrelatable portion of the schema within "+p.lost)
		case !r.transition && source["optionalOldSelf"] != nil:
			c.faults.Invalid(at+".optionalOldSelf", source["optionalOldSelf"], "may not be set if oldSelf is not used in rule")
		}
	}
}

// leads tells whether a path of fields leads somewhere.
func (n *node) leads(path string) bool {
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

// shownRule is a rule as users know it from faults.
func shownRule(r schema.Tree) string {
	quote := func(name string) string {
		b, err := json.Marshal(rules.Text(r, name))
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
