package codec

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Conform checks a tree that a patch has made as DecodeJSON checks a body, and brings its values into the
// form of trees. Numbers may be int64, float64 or json.Number. The tree that is passed in is not changed;
// the result shares with it what needed no change. Top-level fields that the tree shares in memory with
// base have been checked before and are not looked at again: a patch mostly touches one of them. base may
// be nil.
func Conform(m *schema.Message, t, base tree.Tree) (tree.Tree, []FieldFault, error) {
	c := &conformer{root: true, base: base, encodedFieldSets: base != nil}
	return c.object(m, t)
}

// object conforms a whole object.
func (c *conformer) object(m *schema.Message, root tree.Tree) (tree.Tree, []FieldFault, error) {
	conform := c.message
	if m.Custom != nil {
		conform = c.custom
	}
	out := conform(m, root)
	if c.tooDeep {
		return nil, nil, jsontext.ErrDepth
	}
	if c.messages > maxMessages {
		return nil, nil, ErrTooManyMessages
	}
	if c.err != nil {
		return nil, nil, c.err
	}
	if m.Custom != nil {
		out, c.faults = pruneUnknown(m, out, c.faults)
	}
	slices.SortFunc(c.faults, func(a, b FieldFault) int { return strings.Compare(a.Path, b.Path) })
	return out, c.faults, nil
}

// A conformer walks over a tree along its plan. Its methods return nil for what does not fit.
type conformer struct {
	pathTracker
	root             bool // the message at hand is the whole object
	base             tree.Tree
	encodedFieldSets bool // sets of fields may be strings, as in the tree of an object: those of base are
	depth            int
	tooDeep          bool // the tree nests deeper than jsontext.MaxDepth
	messages         int  // messages so far
	keepNulls        bool // null stays in the tree, as nil
}

// enter tells whether the walk may go one level deeper; leave goes back up.
func (c *conformer) enter() bool {
	c.depth++
	c.tooDeep = c.tooDeep || c.depth > jsontext.MaxDepth
	return !c.tooDeep
}

func (c *conformer) leave() { c.depth-- }

// message conforms an object by the plan m.
func (c *conformer) message(m *schema.Message, object tree.Tree) tree.Tree {
	if !c.enter() {
		return nil
	}
	defer c.leave()
	if c.messages++; c.messages > maxMessages {
		return nil
	}
	root := c.root
	c.root = false
	edit := copyOnWrite{from: object}
	known := 0
	for _, f := range m.Fields {
		v, ok := object[f.Name]
		if !ok {
			continue
		}
		known++
		if root && v != nil && c.base != nil && tree.SameRef(v, c.base[f.Name]) {
			continue
		}
		c.member(m, f, v, &edit)
	}
	if known < len(object) {
		c.additionalFields(m, root, &edit)
	}
	if edit.copied != nil && !c.keepNulls {
		dropNulls(edit.copied)
	}
	return edit.result()
}

// member conforms the value of one field.
func (c *conformer) member(m *schema.Message, f *schema.Field, v any, edit *copyOnWrite) {
	c.pushField(m, f)
	edit.set(f.Name, v, c.field(f, v))
	c.pop()
}

// additionalFields handles the keys of a message that its plan does not have: they are reported and
// dropped, except for those of every object.
func (c *conformer) additionalFields(m *schema.Message, root bool, edit *copyOnWrite) {
	for _, key := range sortedKeys(nil, edit.from) {
		switch f := fieldOf(m, key, root); {
		case f == nil:
			c.unknown(key)
			edit.drop(key)
		case m.Field(key) == nil:
			c.member(m, f, edit.from[key], edit)
		}
	}
}

// A copyOnWrite is a map that is copied on the first change.
type copyOnWrite struct{ from, copied tree.Tree }

func (e *copyOnWrite) change() {
	if e.copied == nil {
		e.copied = maps.Clone(e.from)
	}
}

func (e *copyOnWrite) drop(key string) {
	e.change()
	delete(e.copied, key)
}

// set gives a key the value v in place of old; nothing is copied if they are the same. A nil is always
// written, for dropNulls to find.
func (e *copyOnWrite) set(key string, old, v any) {
	if v == nil || !tree.SameRef(old, v) {
		e.change()
		e.copied[key] = v
	}
}

func (e *copyOnWrite) result() tree.Tree {
	if e.copied != nil {
		return e.copied
	}
	return e.from
}

// field conforms the value of a field; nil means null, or that it does not fit.
func (c *conformer) field(f *schema.Field, v any) any {
	if v == nil {
		return nil
	}
	switch f.Shape {
	case schema.List:
		if list, ok := v.([]any); ok {
			return c.list(f, list)
		}
	case schema.Map:
		if table, ok := v.(tree.Tree); ok {
			return c.mapField(f, table)
		}
	default:
		return c.single(f, v)
	}
	c.mismatch(valueType(v), goType(f))
	return nil
}

// list conforms a list, which is copied when the first element changes.
func (c *conformer) list(f *schema.Field, list []any) any {
	if !c.enter() {
		return nil
	}
	defer c.leave()
	out := list
	for i, v := range list {
		c.pushIndex(i)
		made := c.element(f, v)
		c.pop()
		if tree.SameRef(v, made) {
			continue
		}
		if &out[0] == &list[0] {
			out = slices.Clone(list)
		}
		out[i] = made
	}
	return out
}

// mapField conforms a map. Go goes over its keys in random order, but which error is reported must not
// depend on that.
func (c *conformer) mapField(f *schema.Field, table tree.Tree) any {
	if !c.enter() {
		return nil
	}
	defer c.leave()
	edit := copyOnWrite{from: table}
	before := c.err
	for key, v := range table {
		c.entry(f, key, v, &edit)
	}
	if c.err != before { // go over it again for the first error in the order of the keys
		c.err = before
		for _, key := range sortedKeys(nil, table) {
			c.entry(f, key, table[key], &edit)
		}
	}
	return edit.result()
}

// entry conforms one entry of a map.
func (c *conformer) entry(f *schema.Field, key string, v any, edit *copyOnWrite) {
	if v == nil && c.keepNulls {
		return
	}
	c.pushKey(key)
	edit.set(key, v, c.element(f, v))
	c.pop()
}

// element conforms an element of a list or map, where null means the zero value.
func (c *conformer) element(f *schema.Field, v any) any {
	if v != nil {
		v = c.single(f, v)
	}
	if v == nil {
		return Zero(f)
	}
	return v
}

// single conforms one value of the type of f, whatever its shape.
func (c *conformer) single(f *schema.Field, v any) any {
	switch f.Type {
	case schema.TypeRaw:
		if f.Message != nil {
			return c.union(f.Message, v)
		}
		return c.raw(v)
	case schema.TypeStrings:
		return c.strings(v)
	case schema.TypeFields:
		return c.fieldSet(f, v)
	}
	if f.Type == schema.TypeMessage {
		if object, ok := v.(tree.Tree); ok {
			return c.message(f.Message, object)
		}
		c.mismatch(valueType(v), elementType(f))
		return nil
	}
	whole := v // returned instead of the string in it, which would be boxed again
	switch v := v.(type) {
	case string:
		if f.Type == schema.TypeString {
			return whole
		}
		return c.fromString(f, v)
	case bool:
		return c.fromBool(f, v)
	case int64:
		return c.fromInteger(f, v)
	case int:
		return c.fromInteger(f, int64(v))
	case float64:
		return c.fromNumber(f, floatLiteral(v))
	case json.Number:
		return c.fromNumber(f, v.String())
	}
	c.mismatch(valueType(v), elementType(f))
	return nil
}

// fromInteger is fromNumber without formatting and parsing the number, as nearly all numbers are whole.
func (c *conformer) fromInteger(f *schema.Field, n int64) any {
	if f.Type == schema.TypeInt64 || (f.Type == schema.TypeInt32 || f.Type == schema.TypeIntOrString) && int64(int32(n)) == n {
		return n
	}
	return c.fromNumber(f, strconv.FormatInt(n, 10))
}

// raw turns the numbers of a value without a plan into int64 and float64.
func (c *conformer) raw(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		if !c.enter() {
			return nil
		}
		defer c.leave()
		edit := copyOnWrite{from: v}
		for key, item := range v {
			edit.set(key, item, c.raw(item))
		}
		return edit.result()
	case []any:
		if !c.enter() {
			return nil
		}
		defer c.leave()
		out := v
		for i, item := range v {
			if made := c.raw(item); !tree.SameRef(item, made) {
				if &out[0] == &v[0] {
					out = slices.Clone(v)
				}
				out[i] = made
			}
		}
		return out
	case json.Number:
		return c.anyNumber(v.String())
	case int:
		return int64(v)
	case string, bool, int64, float64, nil:
		return v
	}
	c.mismatch(valueType(v), "interface {}")
	return nil
}

// floatLiteral writes a number so that an integral one reads as an integer.
func floatLiteral(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1<<63 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// valueType names a value of a tree as errors do.
func valueType(v any) string {
	switch v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "bool"
	case nil:
		return "null"
	}
	return "number"
}
