package custom

import (
	"regexp"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A node is the compiled schema of one value.
type node struct {
	kind       string // object, array, string, integer, number, boolean; "" for any
	format     string
	properties map[string]*node
	names      []string // of the properties, sorted
	required   []string
	additional *node // of the values of a map; nil if it is none
	items      *node // of the elements of a list

	preserveUnknown bool // fields that are not known stay
	embedded        bool // the value is an object with kind, apiVersion and metadata
	intOrString     bool
	nullable        bool
	defaultValue    any // the default; nil for none
	defaultSize     int // of fill

	listType string // "", atomic, set or map
	listKeys []string
	atomic   bool // a map or object that is owned as a whole

	limits
	allOf, anyOf, oneOf []*node
	not                 *node

	rules    []schema.Tree
	hasRules bool // here or below
	once     sync.Once
	compiled []rule // by once, when the first value comes
}

// limits bound the value itself.
type limits struct {
	enum                         []any
	min, max, multipleOf         *float64
	minExclusive, maxExclusive   bool
	minLength, maxLength         *int64
	minItems, maxItems           *int64
	minProperties, maxProperties *int64
	pattern                      *regexp.Regexp
	unique                       bool
}

// compile makes the node of a schema, which is a tree of a definition.
func (k *Extensions) compile(s schema.Tree) *node {
	n := &node{
		kind: rules.String(s, "type"), format: rules.String(s, "format"), required: rules.Strings(s, "required"),
		preserveUnknown: rules.Bool(s, k.Preserve), embedded: rules.Bool(s, k.Embedded), intOrString: rules.Bool(s, k.IntOrString),
		nullable: rules.Bool(s, "nullable"), defaultValue: s["default"], defaultSize: jsonSize(s["default"]),
		listType: rules.String(s, k.ListType), listKeys: rules.Strings(s, k.ListKeys), atomic: rules.String(s, k.MapType) == "atomic",
		limits: newLimits(s),
		allOf:  k.compileAll(s, "allOf"), anyOf: k.compileAll(s, "anyOf"), oneOf: k.compileAll(s, "oneOf"),
		rules: rules.Trees(s, k.Validations),
	}
	if not, ok := s["not"].(schema.Tree); ok {
		n.not = k.compile(not)
	}
	properties := rules.Nested(s, "properties")
	if len(properties) > 0 {
		n.names = rules.Keys(properties)
		n.properties = make(map[string]*node, len(properties))
		for _, name := range n.names {
			n.properties[name] = k.compile(rules.Nested(properties, name))
		}
	}
	switch more := s["additionalProperties"].(type) {
	case schema.Tree:
		n.additional = k.compile(more)
	case bool:
		if more { // values of any kind, of which nothing is known
			n.additional = &node{nullable: true}
		}
	}
	if items, ok := s["items"].(schema.Tree); ok {
		n.items = k.compile(items)
	}
	n.hasRules = n.declaresRules()
	return n
}

func (k *Extensions) compileAll(s schema.Tree, name string) []*node {
	var all []*node
	for _, one := range rules.Trees(s, name) {
		all = append(all, k.compile(one))
	}
	return all
}

func newLimits(s schema.Tree) limits {
	l := limits{
		enum: rules.Items(s, "enum"), unique: rules.Bool(s, "uniqueItems"),
		min: number(s, "minimum"), max: number(s, "maximum"), multipleOf: number(s, "multipleOf"),
		minExclusive: rules.Bool(s, "exclusiveMinimum"), maxExclusive: rules.Bool(s, "exclusiveMaximum"),
		minLength: integer(s, "minLength"), maxLength: integer(s, "maxLength"),
		minItems: integer(s, "minItems"), maxItems: integer(s, "maxItems"),
		minProperties: integer(s, "minProperties"), maxProperties: integer(s, "maxProperties"),
	}
	if pattern := rules.String(s, "pattern"); pattern != "" {
		l.pattern, _ = regexp.Compile(pattern) // one that is none has been refused
	}
	return l
}

func number(s schema.Tree, name string) *float64 {
	switch v := s[name].(type) {
	case float64:
		return &v
	case int64:
		f := float64(v)
		return &f
	}
	return nil
}

func integer(s schema.Tree, name string) *int64 {
	if v, ok := rules.Int(s, name); ok {
		return &v
	}
	return nil
}

// child is the node of a field or an entry; nil if the schema does not know it.
func (n *node) child(name string) *node {
	if p := n.properties[name]; p != nil {
		return p
	}
	return n.additional
}

// metaFields are what an object says of itself, whether its schema lists it or not.
var metaFields = []string{"apiVersion", "kind", "metadata"}

// isMetaField tells the fields of an object that no schema drops.
func isMetaField(name string) bool { return slices.Contains(metaFields, name) }
