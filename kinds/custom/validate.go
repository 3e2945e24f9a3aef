package custom

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A validation checks one object. Where it only has to know whether there is a fault, faults
// holds those of a branch.
type validator struct{ faults *schema.Faults }

// oldValue is what a value was in the state before, if there is one that it can be told from.
type oldValue struct {
	value  any
	exists bool
}

// field is the same for a field of the value.
func (b oldValue) field(name string) oldValue {
	t, ok := b.value.(tree.Tree)
	if !ok || !b.exists {
		return oldValue{}
	}
	v, there := t[name]
	return oldValue{v, there}
}

// object checks a whole object; old is nil for a new one.
func (n *node) validate(t, old tree.Tree, faults *schema.Faults) {
	v := validator{faults}
	was := oldValue{old, old != nil}
	v.limits(n, t, "")
	v.combinators(n, t, was, "")
	v.fields(n, t, was, "", true)
}

// evaluateRules runs the rules for a whole object, which is valid otherwise: they may rely on the types of
// what they look at.
func (n *node) evaluateRules(ctx context.Context, t, old tree.Tree, faults *schema.Faults) {
	timed, cancel := context.WithTimeout(ctx, evaluationTimeout)
	defer cancel()
	e := ruleEvaluator{timed, faults, budget{maxObjectCost}}
	e.evaluate(n, t, oldValue{old, old != nil}, "", true)
	if timed.Err() != nil && ctx.Err() == nil {
		faults.InvalidOmitValue("", errBudget.Error())
	}
}

// value checks v, which is at path. What is as it was is not looked at again.
func (c *validator) value(n *node, v any, was oldValue, path string) {
	if was.exists && tree.StrictEqual(v, was.value) {
		return
	}
	if v == nil && n.nullable {
		return
	}
	if !n.hasType(v) {
		want := n.kind
		if n.intOrString {
			want = "integer,string"
		}
		c.faults.TypeInvalid(path, typeOf(v), fmt.Sprintf("%s in body must be of type %s: %q", path, want, typeOf(v)))
	}
	c.limits(n, v, path)
	c.combinators(n, v, was, path)
	switch v := v.(type) {
	case tree.Tree:
		c.fields(n, v, was, path, n.embedded)
	case []any:
		c.list(n, v, was, path)
	}
}

// fields checks the fields of an object; own tells that it is one with kind and metadata.
func (c *validator) fields(n *node, t tree.Tree, was oldValue, path string, isResourceRoot bool) {
	for _, name := range n.required {
		if _, there := t[name]; !there && !(path == "" && isMetaField(name)) {
			c.faults.Required(tree.FieldPath(path, name))
		}
	}
	if isResourceRoot && path != "" {
		c.embedded(t, path)
	}
	for _, name := range t.SortedKeys() {
		if isResourceRoot && isMetaField(name) {
			if p := n.properties[name]; p != nil && name == "metadata" {
				c.metadata(p, t[name], path)
			}
			continue
		}
		if below := n.child(name); below != nil {
			c.value(below, t[name], was.field(name), tree.FieldPath(path, name))
		}
	}
}

// metadata checks what a schema may ask of the name of an object.
func (c *validator) metadata(n *node, v any, path string) {
	t, _ := v.(tree.Tree)
	for _, name := range []string{"name", "generateName"} {
		if p := n.properties[name]; p != nil && t[name] != nil {
			c.value(p, t[name], oldValue{}, tree.FieldPath(tree.FieldPath(path, "metadata"), name))
		}
	}
}

// embedded checks that an object within another one says what it is.
func (c *validator) embedded(t tree.Tree, path string) {
	for _, name := range []string{"apiVersion", "kind"} {
		if t.String(name) == "" {
			c.faults.Required(tree.FieldPath(path, name), "must not be empty")
		}
	}
}

// combinators checks what is said of a value by other schemas.
func (c *validator) combinators(n *node, v any, was oldValue, path string) {
	for _, one := range n.allOf {
		c.value(one, v, was, path)
	}
	if len(n.anyOf) > 0 && !n.intOrString && c.countValid(n.anyOf, v, path) == 0 {
		c.faults.Invalid(path, "", fmt.Sprintf("%q must validate at least one schema (anyOf)", path))
	}
	if len(n.oneOf) > 0 {
		switch passing := c.countValid(n.oneOf, v, path); {
		case passing == 0:
			c.faults.Invalid(path, "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found none valid", path))
		case passing > 1:
			c.faults.Invalid(path, "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found %d valid alternatives", path, passing))
		}
	}
	if n.not != nil && c.countValid([]*node{n.not}, v, path) > 0 {
		c.faults.Invalid(path, "", fmt.Sprintf("%q must not validate the schema (not)", path))
	}
}

// countValid counts the schemas that a value meets.
func (c *validator) countValid(schemas []*node, v any, path string) (count int) {
	for _, n := range schemas {
		var faults schema.Faults
		branch := validator{&faults}
		branch.value(n, v, oldValue{}, path)
		if len(faults.List) == 0 {
			count++
		}
	}
	return count
}

// hasType tells whether a value is of the type that a schema wants.
func (n *node) hasType(v any) bool {
	if n.intOrString {
		_, text := v.(string)
		return text || isInteger(v)
	}
	switch n.kind {
	case "":
		return true
	case "integer":
		return isInteger(v)
	case "number":
		switch v.(type) {
		case int64, float64:
			return true
		}
		return false
	}
	return typeOf(v) == n.kind
}

func isInteger(v any) bool {
	switch v := v.(type) {
	case int64:
		return true
	case float64:
		return v == math.Trunc(v)
	}
	return false
}

// typeOf names the type of a value as schemas do.
func typeOf(v any) string {
	switch v := v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// enum checks a value against the only ones that there may be.
func (c *validator) enum(enum []any, v any, path string) {
	if len(enum) == 0 || slices.ContainsFunc(enum, func(e any) bool { return jsonEqual(e, v) }) {
		return
	}
	texts := make([]string, len(enum))
	for i, e := range enum {
		if s, ok := e.(string); ok {
			texts[i] = s
		} else {
			texts[i] = string(codec.AppendAny(nil, e))
		}
	}
	c.faults.NotSupported(path, v, texts)
}

// jsonEqual compares values as JSON: 1 and 1.0 are one.
func jsonEqual(a, b any) bool {
	x, okX := asFloat(a)
	y, okY := asFloat(b)
	if okX || okY {
		return okX && okY && x == y
	}
	return tree.StrictEqual(a, b)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// inBody begins what is said about the value at a path.
func inBody(path string) string { return strings.TrimPrefix(path, ".") + " in body " }
