package custom

import (
	"regexp"
	"sync"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A node is the schema of one value as the definition has it, parsed.
type node struct {
	kind       string // object, array, string, integer, number, boolean; "" for any
	format     string
	properties map[string]*node
	names      []string // of the properties, sorted
	required   []string
	additional *node // of the values of a map; nil if it is none
	items      *node // of the elements of a list

	preserveUnknown bool // unknown fields are kept
	embedded        bool // the value is an object with kind, apiVersion and metadata
	intOrString     bool
	nullable        bool
	defaultValue    any // the default; nil for none

	listType string // "", atomic, set or map
	listKeys []string
	identity *rules.Identity // of the items of a list with keys; nil: they have none
	atomic   bool            // a map or object that is owned as a whole

	hasEmbedded bool // here or below

	limits
	allOf, anyOf, oneOf []*node
	not                 *node

	rules    []tree.Tree
	hasRules bool        // here or below
	self     *cel.Schema // of values in expressions, by prepareRules
	selfType *cel.Type
	once     sync.Once
	compiled []*rule // by once, when they first run: most definitions are never evaluated
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
//
// The tree is that of a valid definition. What does not have the right type is read as absent; see the package's
// comment on faults.
func (k *Extensions) compile(s tree.Tree) *node {
	n := &node{
		kind: s.String("type"), format: s.String("format"), required: s.Strings("required"),
		preserveUnknown: s.Bool(k.Preserve), embedded: s.Bool(k.Embedded), intOrString: s.Bool(k.IntOrString),
		nullable: s.Bool("nullable"), defaultValue: s["default"],
		listType: s.String(k.ListType), listKeys: s.Strings(k.ListKeys), atomic: s.String(k.MapType) == "atomic",
		limits: newLimits(s),
		allOf:  k.compileAll(s, "allOf"), anyOf: k.compileAll(s, "anyOf"), oneOf: k.compileAll(s, "oneOf"),
		rules: s.Objects(k.Validations),
	}
	if not, ok := s["not"].(tree.Tree); ok {
		n.not = k.compile(not)
	}
	properties := s.Object("properties")
	if len(properties) > 0 {
		n.names = properties.SortedKeys()
		n.properties = make(map[string]*node, len(properties))
		for _, name := range n.names {
			n.properties[name] = k.compile(properties.Object(name))
		}
	}
	switch more := s["additionalProperties"].(type) {
	case tree.Tree:
		n.additional = k.compile(more)
	case bool:
		if more { // values of any type
			n.additional = &node{nullable: true}
		}
	}
	if items, ok := s["items"].(tree.Tree); ok {
		n.items = k.compile(items)
	}
	n.identity = n.newIdentity()
	n.hasRules, n.hasEmbedded = n.declaresRules(), n.embeds()
	return n
}

func (k *Extensions) compileAll(s tree.Tree, name string) []*node {
	var all []*node
	for _, one := range s.Objects(name) {
		all = append(all, k.compile(one))
	}
	return all
}

// Absent and zero differ: maxItems: 0 allows only the empty list, hence the pointers.
func newLimits(s tree.Tree) limits {
	l := limits{
		enum: s.List("enum"), unique: s.Bool("uniqueItems"),
		min: number(s, "minimum"), max: number(s, "maximum"), multipleOf: number(s, "multipleOf"),
		minExclusive: s.Bool("exclusiveMinimum"), maxExclusive: s.Bool("exclusiveMaximum"),
		minLength: integer(s, "minLength"), maxLength: integer(s, "maxLength"),
		minItems: integer(s, "minItems"), maxItems: integer(s, "maxItems"),
		minProperties: integer(s, "minProperties"), maxProperties: integer(s, "maxProperties"),
	}
	if pattern := s.String("pattern"); pattern != "" {
		l.pattern, _ = regex.Compile(pattern) // definitions with others are refused
	}
	return l
}

func number(s tree.Tree, name string) *float64 {
	switch v := s[name].(type) {
	case float64:
		return &v
	case int64:
		f := float64(v)
		return &f
	}
	return nil
}

func integer(s tree.Tree, name string) *int64 {
	if v, ok := s.Int(name); ok {
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

// newIdentity is the identity of the items of a list with keys; nil: they have no keys.
//
// The defaults of keys are part of the identity, since an element that leaves a key out is the same as one that
// writes its default.
func (n *node) newIdentity() *rules.Identity {
	if n.listType != "map" {
		return nil
	}
	id := &rules.Identity{Keys: n.listKeys, Defaults: make([]any, len(n.listKeys))}
	for i, name := range n.listKeys {
		if n.items != nil && n.items.properties[name] != nil {
			id.Defaults[i] = n.items.properties[name].defaultValue
		}
	}
	return id
}
