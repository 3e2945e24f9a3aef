package crd

import (
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

type node struct {
	kind       string // object, array, string, integer, number or boolean; "" for any
	format     string
	hasFormat  func(s string) bool // nil if the format is unknown or of another type
	properties map[string]*node
	names      []string // sorted names of the properties
	required   []string
	additional *node // schema of map values; otherwise nil
	items      *node // schema of list items

	preserveUnknown bool // unknown fields are kept
	embedded        bool // the value is an object with kind, apiVersion and metadata
	intOrString     bool
	nullable        bool
	defaultValue    any // nil if there is none

	listType string // "", atomic, set or map
	listKeys []string
	identity *rules.Identity // identity of keyed list items; otherwise nil
	atomic   bool            // the map or object is owned as a whole

	hasEmbedded bool // here or below

	limits
	allOf, anyOf, oneOf []*node
	not                 *node

	rules    []tree.Tree
	hasRules bool        // here or below
	self     *cel.Schema // CEL schema of values, set by prepareRules
	selfType *cel.Type
	// Rules are compiled on first use, because most never run.
	once       sync.Once
	isCompiled atomic.Bool
	compiled   []*rule // set by once
}

type limits struct {
	enum                         []any
	min, max, multipleOf         *float64
	minExclusive, maxExclusive   bool
	minLength, maxLength         *int64
	minItems, maxItems           *int64
	minProperties, maxProperties *int64
	pattern                      *regexp.Regexp
	patternSize                  int // regex.Expansion
	unique                       bool
}

// compile parses the schema of a valid CRD. It ignores keywords of the wrong type (see the package
// comment).
func (k *Extensions) compile(s tree.Tree) *node {
	n := &node{}
	for keyword, v := range s {
		if !n.limits.set(keyword, v) && !k.setParts(n, keyword, v) {
			k.setKeyword(n, keyword, v)
		}
	}
	if n.kind == "" || n.kind == "string" {
		n.hasFormat = k.formats.Of(n.format)
	}
	n.identity = n.newIdentity()
	n.hasRules, n.hasEmbedded = n.declaresRules(), n.embeds()
	return n
}

func (k *Extensions) setKeyword(n *node, keyword string, v any) {
	switch keyword {
	case "type":
		n.kind, _ = v.(string)
	case "format":
		n.format, _ = v.(string)
	case "required":
		n.required = texts(v)
	case "nullable":
		n.nullable, _ = v.(bool)
	case "default":
		n.defaultValue = v
	case k.Preserve:
		n.preserveUnknown, _ = v.(bool)
	case k.Embedded:
		n.embedded, _ = v.(bool)
	case k.IntOrString:
		n.intOrString, _ = v.(bool)
	case k.ListType:
		n.listType, _ = v.(string)
	case k.ListKeys:
		n.listKeys = texts(v)
	case k.MapType:
		n.atomic = v == "atomic"
	case k.Validations:
		list, _ := v.([]any)
		for _, rule := range list {
			object, _ := rule.(tree.Tree)
			n.rules = append(n.rules, object)
		}
	}
}

// setParts parses a keyword that contains schemas, such as properties. It returns false for other
// keywords.
func (k *Extensions) setParts(n *node, keyword string, v any) bool {
	switch keyword {
	case "not":
		if not, ok := v.(tree.Tree); ok {
			n.not = k.compile(not)
		}
	case "items":
		if items, ok := v.(tree.Tree); ok {
			n.items = k.compile(items)
		}
	case "allOf":
		n.allOf = k.compileAll(v)
	case "anyOf":
		n.anyOf = k.compileAll(v)
	case "oneOf":
		n.oneOf = k.compileAll(v)
	case "properties":
		if properties, _ := v.(tree.Tree); len(properties) > 0 {
			n.names = properties.SortedKeys()
			n.properties = make(map[string]*node, len(properties))
			for _, name := range n.names {
				n.properties[name] = k.compile(properties.Object(name))
			}
		}
	case "additionalProperties":
		if more, ok := v.(tree.Tree); ok {
			n.additional = k.compile(more)
		} else if v == true { // values of any type
			n.additional = &node{nullable: true}
		}
	default:
		return false
	}
	return true
}

func (k *Extensions) compileAll(v any) (all []*node) {
	list, _ := v.([]any)
	for _, one := range list {
		object, _ := one.(tree.Tree)
		all = append(all, k.compile(object))
	}
	return all
}

func texts(v any) []string {
	list, _ := v.([]any)
	all := make([]string, len(list))
	for i, one := range list {
		all[i], _ = one.(string)
	}
	return all
}

// set sets a limit, or returns false if keyword is not a limit. Limits are pointers, because zero
// differs from absent. For example, maxItems: 0 allows only the empty list.
func (l *limits) set(keyword string, v any) bool {
	switch keyword {
	case "enum":
		l.enum, _ = v.([]any)
	case "uniqueItems":
		l.unique, _ = v.(bool)
	case "minimum":
		l.min = number(v)
	case "maximum":
		l.max = number(v)
	case "multipleOf":
		l.multipleOf = number(v)
	case "exclusiveMinimum":
		l.minExclusive, _ = v.(bool)
	case "exclusiveMaximum":
		l.maxExclusive, _ = v.(bool)
	case "minLength":
		l.minLength = integer(v)
	case "maxLength":
		l.maxLength = integer(v)
	case "minItems":
		l.minItems = integer(v)
	case "maxItems":
		l.maxItems = integer(v)
	case "minProperties":
		l.minProperties = integer(v)
	case "maxProperties":
		l.maxProperties = integer(v)
	case "pattern":
		if pattern, _ := v.(string); pattern != "" {
			l.pattern, _ = regex.Compile(pattern) // CRDs with invalid patterns are rejected
			l.patternSize = int(regex.Expansion(pattern))
		}
	default:
		return false
	}
	return true
}

func number(v any) *float64 {
	if f, ok := asFloat(v); ok {
		return &f
	}
	return nil
}

func integer(v any) *int64 {
	if n, ok := v.(int64); ok {
		return &n
	}
	return nil
}

func (n *node) child(name string) *node {
	if p := n.properties[name]; p != nil {
		return p
	}
	return n.additional
}

// newIdentity returns the Identity that compares list elements by their map keys. An omitted key
// equals its default.
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
