package extension

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A generator generates random schemas, rules and values.
type generator struct {
	*rand.Rand
	unknown bool // adds fields that are not in the schema
}

func pick[T any](g generator, all ...T) T { return all[g.Intn(len(all))] }

var fields = []string{"spec", "size", "a", "a-b", "a.b", "x__y", "in", "namespace", "self", "metadata", "9", "ä"}

func (g generator) schema(depth int) tree.Tree {
	if depth == 0 || g.Intn(4) == 0 {
		return g.scalar()
	}
	switch g.Intn(6) {
	case 0:
		return g.limit(tree.Tree{"type": "object", "additionalProperties": g.schema(depth - 1)}, "maxProperties", 5)
	case 1:
		return g.limit(tree.Tree{"type": "array", "items": unformatted(g.schema(depth - 1))}, "maxItems", 5)
	case 2:
		return g.limit(tree.Tree{"type": "array", "items": comparable(g.scalar()), "x-kubernetes-list-type": "set"}, "maxItems", 5)
	case 3:
		item := g.object(depth - 1)
		item["properties"].(tree.Tree)["key"] = tree.Tree{"type": "string"}
		item["required"] = []any{"key"}
		return g.limit(tree.Tree{"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"key"}}, "maxItems", 5)
	}
	return g.object(depth - 1)
}

// unformatted removes the format from a schema, because the reference implementation cannot
// concatenate or compare lists of formatted values.
func unformatted(s tree.Tree) tree.Tree {
	delete(s, "format")
	return s
}

// comparable is like unformatted, but also replaces number with integer, because the reference
// implementation treats 1 and 1.0 as different items of a set.
func comparable(s tree.Tree) tree.Tree {
	if s.String("type") == "number" {
		s["type"] = "integer"
	}
	return unformatted(s)
}

func (g generator) limit(s tree.Tree, name string, limit int64) tree.Tree {
	if g.Intn(2) == 0 {
		s[name] = limit
	}
	return s
}

func (g generator) object(depth int) tree.Tree {
	properties := tree.Tree{}
	for range 1 + g.Intn(3) {
		properties[pick(g, fields...)] = g.schema(depth)
	}
	s := tree.Tree{"type": "object", "properties": properties}
	if g.Intn(3) == 0 {
		s["required"] = []any{properties.SortedKeys()[0]}
	}
	if g.unknown && g.Intn(8) == 0 {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if g.Intn(8) == 0 {
		s["x-kubernetes-embedded-resource"] = true
		delete(properties, "metadata")
	}
	return s
}

func (g generator) scalar() tree.Tree {
	switch g.Intn(9) {
	case 0:
		return tree.Tree{"type": "integer"}
	case 1:
		return tree.Tree{"type": "number"}
	case 2:
		return tree.Tree{"type": "boolean"}
	case 3:
		return tree.Tree{"x-kubernetes-int-or-string": true}
	case 4:
		return g.limit(tree.Tree{"type": "string", "format": pick(g, "date-time", "date", "duration", "byte")}, "maxLength", 20)
	case 5:
		return tree.Tree{"type": "string", "enum": []any{"a", "bcd"}}
	}
	return g.limit(tree.Tree{"type": "string"}, "maxLength", 10)
}

// value returns a random value that conforms to a schema.
func (g generator) value(s tree.Tree) any {
	switch s.String("type") {
	case "object":
		t := tree.Tree{}
		if more, ok := s["additionalProperties"].(tree.Tree); ok {
			for range g.Intn(3) {
				t[pick(g, "k", "l", "m")] = g.value(more)
			}
			return t
		}
		properties := s.Object("properties")
		for _, name := range properties.SortedKeys() {
			p := properties[name]
			if g.Intn(4) > 0 || len(s.List("required")) > 0 && s.List("required")[0] == name {
				t[name] = g.value(p.(tree.Tree))
			}
		}
		if s.Bool("x-kubernetes-preserve-unknown-fields") && g.Intn(2) == 0 {
			t["more"] = pick(g, any("x"), any(int64(1)), any(tree.Tree{"y": int64(1)}))
		}
		if s.Bool("x-kubernetes-embedded-resource") {
			t["apiVersion"], t["kind"], t["metadata"] = "v1", "K", tree.Tree{"name": "n"}
		}
		return t
	case "array":
		list := []any{}
		for i := range g.Intn(4) {
			v := g.value(s.Object("items"))
			if t, ok := v.(tree.Tree); ok && s.String("x-kubernetes-list-type") == "map" {
				t["key"] = fmt.Sprint("k", i)
			}
			if s.String("x-kubernetes-list-type") == "set" && i > 0 {
				break
			}
			list = append(list, v)
		}
		return list
	case "integer":
		return int64(g.Intn(4))
	case "number":
		return pick(g, any(0.5), any(2.5), any(int64(1)))
	case "boolean":
		return g.Intn(2) == 0
	case "string":
		switch s.String("format") {
		case "date-time":
			return pick(g, "2020-01-01T00:00:00Z", "2021-06-01T12:00:00.5+02:00")
		case "date":
			return "2020-01-01"
		case "duration":
			return pick(g, "1h", "90s")
		case "byte":
			return pick(g, "YQ==", "")
		}
		return pick(g, "a", "bcd", "ä")
	}
	return pick(g, any("10%"), any(int64(2)))
}

// condition returns a boolean expression about e, an expression for a value that conforms to s.
func (g generator) condition(e string, s tree.Tree, depth int) string {
	v := fmt.Sprint("v", depth)
	switch s.String("type") {
	case "object":
		if more, ok := s["additionalProperties"].(tree.Tree); ok {
			return pick(g, fmt.Sprintf("%s.all(%s, %s)", e, v, g.condition(e+"["+v+"]", more, depth+1)), fmt.Sprintf("'k' in %s", e),
				fmt.Sprintf("%s.exists_one(%s, %s == 'k')", e, v, v), fmt.Sprintf("%s == %s", e, e), fmt.Sprintf("%s.all(%s, w, %s == 'k' || %s)", e, v, v, g.condition("w", more, depth+1)))
		}
		return g.fieldCondition(e, s, depth)
	case "array":
		item := s.Object("items")
		return pick(g, fmt.Sprintf("%s.all(%s, %s)", e, v, g.condition(v, item, depth+1)), fmt.Sprintf("%s.map(%s, %s).all(w, w)", e, v, g.condition(v, item, depth+1)),
			fmt.Sprintf("%s == %s.filter(%s, true)", e, e, v), fmt.Sprintf("%s + %s == %s", e, e, e), fmt.Sprintf("size(%s) < 3", e),
			fmt.Sprintf("%s.size() == 0 || %s", e, g.condition(e+"[0]", item, depth+1)), fmt.Sprintf("%s.indexOf(%s[0]) == 0", e, e), fmt.Sprintf("(%s + %s).size() < 4", e, e))
	case "integer":
		return pick(g, e+" > 0", e+" + 1 < 4", e+" in [1, 2]", "quantity(string("+e+")).isInteger()", e+" > 0.5", "lists.range("+e+").size() < 3")
	case "number":
		return pick(g, e+" > 1.0", e+" < 2", "int("+e+") == 0")
	case "boolean":
		return pick(g, e, "!"+e, e+" == true")
	case "string":
		switch s.String("format") {
		case "date-time", "date":
			return pick(g, e+".getFullYear() == 2020", e+" < timestamp('2021-01-01T00:00:00Z')")
		case "duration":
			return pick(g, e+".getMinutes() > 2", e+" == duration('1h')")
		case "byte":
			return pick(g, e+".size() > 0", e+" == b'a'")
		}
		return pick(g, e+".size() < 3", e+" == 'a'", e+".startsWith('a')", e+".matches('^[a-c]*$')", e+".find('b') == ''", "isIP("+e+")", e+".replace('a', 'bb').size() == 2",
			e+".split('').size() == 1", "!format.dns1123Label().validate("+e+").hasValue()", e+".upperAscii() != 'A'", e+" + 'x' != 'ax'", "["+e+", 'b'].join('-').contains('-')")
	}
	return pick(g, e+" == 2", "type("+e+") == string", "type("+e+") == int ? "+e+" < 3 : "+e+" == '10%'", "string("+e+") != ''")
}

// fieldCondition returns a condition on a random field, which the value may lack.
func (g generator) fieldCondition(e string, s tree.Tree, depth int) string {
	names := s.Object("properties").SortedKeys()
	if s.Bool("x-kubernetes-embedded-resource") && g.Intn(2) == 0 {
		return e + ".metadata.name == 'n' && " + e + ".kind == 'K'"
	}
	if len(names) == 0 {
		return e + " == " + e
	}
	name := pick(g, names...)
	escaped := escape(name)
	below := g.condition(e+"."+escaped, s.Object("properties").Object(name), depth+1)
	return pick(g, fmt.Sprintf("has(%s.%s) ? %s : true", e, escaped, below), fmt.Sprintf("!has(%s.%s) || %s", e, escaped, below), below,
		fmt.Sprintf("has(%s.%s) && %s.%s == %s.%s", e, escaped, e, escaped, e, escaped), fmt.Sprintf("%s.?%s.hasValue()", e, escaped), fmt.Sprintf("%s == %s", e, e))
}

// escape returns a field name as written in expressions. Names that cannot occur in expressions
// stay unchanged.
func escape(name string) string {
	if name == "in" || name == "namespace" {
		return "__" + name + "__"
	}
	return strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__").Replace(name)
}

// addRules adds validation rules to random parts of a schema. If correlatable is true, an update
// can match a value with its old value, and rules may use oldSelf.
func (g generator) addRules(s tree.Tree, correlatable bool) {
	properties := s.Object("properties")
	for _, name := range properties.SortedKeys() {
		g.addRules(properties.Object(name), correlatable)
	}
	if more, ok := s["additionalProperties"].(tree.Tree); ok {
		g.addRules(more, correlatable)
	}
	if items, ok := s["items"].(tree.Tree); ok {
		g.addRules(items, correlatable && s.String("x-kubernetes-list-type") == "map")
	}
	if g.Intn(3) > 0 {
		return
	}
	var rules []any
	for range 1 + g.Intn(2) {
		rule := tree.Tree{"rule": g.condition("self", s, 0)}
		switch g.Intn(8) {
		case 0:
			rule["rule"] = "self == oldSelf"
		case 1:
			rule["rule"], rule["optionalOldSelf"] = "oldSelf.hasValue() ? self == oldSelf.value() : "+rule.String("rule"), true
		case 2:
			rule["message"] = "m"
		case 3:
			rule["messageExpression"] = "'said ' + string(" + pick(g, "1", "true", "'x'") + ")"
		case 4:
			rule["rule"] = "self.nope == 1"
		}
		rules = append(rules, rule)
	}
	s["x-kubernetes-validations"] = rules
}
