package managedfields

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// CheckConfig returns the errors in an apply configuration, or "". undeclared lists the paths of
// unknown fields, as in codec.FieldFault. Other errors are null, duplicate or keyless list items,
// and values that are not a list or object where the schema requires one.
//
// The text matches structured-merge-diff's, with one error per line, for example:
//
//	.spec.containers: duplicate entries for key [name="c"]
func CheckConfig(m *schema.Message, config tree.Tree, undeclared []string) string {
	return check(m, config, undeclared, m.Custom != nil)
}

// CheckUntyped is like CheckConfig, for a configuration that could not be decoded because a value
// has the wrong type.
func CheckUntyped(m *schema.Message, config tree.Tree, undeclared []string) string {
	return check(m, config, undeclared, true)
}

func check(m *schema.Message, config tree.Tree, undeclared []string, types bool) string {
	c := configChecker{types: types}
	c.message(m, config)
	for _, path := range undeclared {
		path = elementPath(&schema.Field{Type: schema.TypeMessage, Message: m}, true, config, "."+path)
		if !c.hasWrongType(path) {
			c.faults = append(c.faults, configFault{path, "field not declared in schema"})
		}
	}
	if len(c.faults) == 0 {
		return ""
	}
	slices.SortFunc(c.faults, func(a, b configFault) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.text, b.text))
	})
	if len(c.faults) == 1 {
		return c.faults[0].String()
	}
	var b strings.Builder
	b.WriteString("errors:")
	for _, f := range c.faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}

// A configChecker collects the errors of a configuration. It builds paths only for errors, so valid
// configurations cause no allocations.
type configChecker struct {
	types  bool // values may not have the type of their field
	faults []configFault
}

type configFault struct{ path, text string }

func (f configFault) String() string { return f.path + ": " + f.text }

const maxConfigFaults = 100

func (c *configChecker) add(format string, a ...any) {
	if len(c.faults) < maxConfigFaults {
		c.faults = append(c.faults, configFault{text: fmt.Sprintf(format, a...)})
	}
}

func (c *configChecker) hasWrongType(path string) bool {
	return slices.ContainsFunc(c.faults, func(f configFault) bool {
		return strings.HasPrefix(f.text, "expected ") && strings.HasPrefix(path, f.path) && len(path) > len(f.path)
	})
}

func (c *configChecker) prefix(from int, segment string) {
	for i := range c.faults[from:] {
		c.faults[from+i].path = segment + c.faults[from+i].path
	}
}

// message checks the fields of an object. If values cannot have the wrong type, it checks only
// fields that can contain lists.
func (c *configChecker) message(m *schema.Message, t tree.Tree) {
	if !c.types && m.Additional == nil {
		for _, f := range m.Composite() {
			c.member(f, false, f.Name, t[f.Name])
		}
		return
	}
	for name, v := range t {
		if f := m.Field(name); f != nil {
			c.member(f, false, name, v)
		}
	}
}

func (c *configChecker) member(f *schema.Field, element bool, name string, v any) {
	from := len(c.faults)
	c.value(f, element, v)
	if len(c.faults) > from {
		c.prefix(from, "."+name)
	}
}

func (c *configChecker) value(f *schema.Field, element bool, v any) {
	switch {
	case v == nil:
	case !element && f.Shape == schema.List:
		list, ok := v.([]any)
		if !ok {
			c.add("expected list, got &{%v}", v)
			return
		}
		c.list(f, list)
	case !element && f.Shape == schema.Map, f.Type == schema.TypeMessage:
		object, ok := v.(tree.Tree)
		switch isMap := !element && f.Shape == schema.Map; {
		case !ok && (isMap || !isOpen(f.Message)):
			c.add("expected map, got &{%v}", v)
		case !ok:
		case isMap && f.Type == schema.TypeMessage:
			for key, item := range object {
				c.member(f, true, key, item)
			}
		case !isMap:
			c.message(f.Message, object)
		}
	}
}

// isOpen reports whether m accepts values of any type, like a schema without a type.
func isOpen(m *schema.Message) bool {
	open := m.Additional
	return open != nil && open.Message != nil && open.Message.Additional != nil && open.Message.Additional.Message == open.Message
}

// list checks the items of a list. Like structured-merge-diff, it stops at an item without
// identity.
func (c *configChecker) list(f *schema.Field, list []any) {
	if granularityOf(f, false) != byItem {
		for i, item := range list {
			from := len(c.faults)
			c.value(f, true, item)
			if len(c.faults) > from {
				c.prefix(from, "["+strconv.Itoa(i)+"]")
			}
		}
		return
	}
	seen := newElementSet(len(list))
	steps := itemElements(f, list)
	for i, item := range list {
		if text := faultOfItem(f, item); text != "" {
			c.add("element %d: %s", i, text)
			return
		}
		if !seen.add(steps[i]) {
			c.add("duplicate entries for key %s", steps[i])
		}
		from := len(c.faults)
		c.value(f, true, item)
		if len(c.faults) > from {
			c.prefix(from, steps[i].String())
		}
	}
}

// faultOfItem returns the reason why an item has no identity, or "".
func faultOfItem(f *schema.Field, item any) string {
	_, isObject := item.(tree.Tree)
	hasKeys := f.ListType != schema.ListSet
	switch {
	case item == nil && hasKeys:
		return "associative list with keys may not have a null element"
	case item == nil:
		return "associative list without keys has an element that's an explicit null"
	case hasKeys && !isObject:
		return "associative list with keys may not have non-map elements"
	case lacksKeys(f, item):
		return fmt.Sprintf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", f.ListMapKeys)
	}
	return ""
}

// elementPath replaces the list indexes in the path of an unknown field with keys. For example,
// .spec.containers[0].foo becomes .spec.containers[name="c"].foo.
func elementPath(f *schema.Field, element bool, v any, path string) string {
	switch v := v.(type) {
	case tree.Tree:
		for name, item := range v {
			rest, ok := strings.CutPrefix(path, "."+name)
			if !ok || rest == "" || rest[0] != '.' && rest[0] != '[' {
				continue
			}
			below, isElement := f, true
			if element || f.Shape == schema.Single {
				if f.Message == nil {
					return path
				}
				below, isElement = f.Message.Field(name), false
			}
			if below == nil {
				return path
			}
			return "." + name + elementPath(below, isElement, item, rest)
		}
	case []any:
		index, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(v) || element {
			return path
		}
		at := pathElement{'i', index}
		if granularityOf(f, false) == byItem {
			at = itemElement(f, v[i])
		}
		return at.String() + elementPath(f, true, v[i], rest)
	}
	return path
}
