package openapi

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/yaml"
)

//go:embed layout.yaml
var layoutTable []byte

func layoutOf(name string) *layout { return layouts()[name] }

var layouts = sync.OnceValue(func() map[string]*layout {
	var table struct {
		Messages map[string]map[string]string
		Unions   map[string][]string
	}
	if err := yaml.UnmarshalStrict(layoutTable, &table); err != nil {
		panic(err) // the table is embedded
	}
	c := layoutCompiler{map[string]*layout{}, map[string]*[]alternative{}}
	for name := range table.Messages {
		c.layouts[name] = &layout{fields: map[string]fieldMapping{}}
	}
	for name := range table.Unions {
		c.unions[name] = new([]alternative)
	}
	for name, texts := range table.Unions {
		for _, text := range texts {
			condition, field, _ := strings.Cut(text, " ")
			*c.unions[name] = append(*c.unions[name], alternative{condition, c.mapping(field)})
		}
	}
	for name, fields := range table.Messages {
		l := c.layouts[name]
		for member, text := range fields {
			switch m := c.mapping(text); member {
			case "x-":
				l.extensions = m.path[0]
			case "*":
				l.entriesNumber, m.path = m.path[0], m.path[1:]
				l.entries = &m
			default:
				l.fields[member] = m
			}
		}
	}
	return c.layouts
})

type layoutCompiler struct {
	layouts map[string]*layout
	unions  map[string]*[]alternative
}

var fieldKinds = map[string]fieldKind{
	"string": kindString, "bool": kindBool, "int64": kindInt64, "double": kindDouble, "any": kindAny, "strings": kindStrings,
}

// mapping compiles a path of field numbers and a type, as in "21.1 Schema2". The path "-" is empty.
func (c *layoutCompiler) mapping(text string) (m fieldMapping) {
	path, of, _ := strings.Cut(text, " ")
	for number := range strings.SplitSeq(path, ".") {
		if n, err := strconv.Atoi(number); err == nil {
			m.path = append(m.path, protowire.Number(n))
		}
	}
	kind, isScalar := fieldKinds[of]
	if m.kind = kind; !isScalar {
		m.kind, m.layout, m.alternatives = kindMessage, c.layouts[of], c.unions[of]
		if m.layout == nil && m.alternatives == nil {
			panic("the layout has no type " + of)
		}
	}
	return m
}

// An alternative is one field of a union, for values that meet the condition.
type alternative struct {
	condition string
	fieldMapping
}

func (a *alternative) holds(v any) bool {
	kind := "else"
	switch v := v.(type) {
	case object:
		name, value, valued := strings.Cut(a.condition, "=")
		if m := v.get(name); m != nil && (!valued || m == value) {
			return true
		}
	case int64, float64:
		kind = "number"
	case bool:
		kind = "bool"
	case string:
		kind = "string"
	}
	return a.condition == kind || a.condition == "else"
}

func (s fieldMapping) pick(v any) fieldMapping {
	all := *s.alternatives
	i := slices.IndexFunc(all, func(a alternative) bool { return a.holds(v) })
	return all[i].fieldMapping
}
