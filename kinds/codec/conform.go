package codec

import (
	"slices"
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
//
// Patches work on trees, so their result has never been a text that a decoder could have checked. For a
// field replicas of type int32:
//
//	json.Number("3"), float64(3)   becomes int64(3)
//	json.Number("3.5"), "3"        is an error, in the words of DecodeJSON
//	nil                            is dropped, like the field in a body that is null
//
// The error, like that of DecodeJSON, is that of the first value of a wrong type; a tree that nests too
// deeply or has too many messages is another error.
func Conform(m *schema.Message, t, base tree.Tree) (tree.Tree, []FieldFault, error) {
	c := &conformer{root: true, base: base, encodedFieldSets: base != nil}
	return c.object(m, t)
}

// ConformConfig is Conform for a configuration that is to be applied: a null in it stays, as nil.
func ConformConfig(m *schema.Message, t tree.Tree) (tree.Tree, []FieldFault, error) {
	c := &conformer{root: true, keepNulls: true}
	return c.object(m, t)
}

// ConformPart is Conform for a part of an object, such as its metadata, whose message is m.
func ConformPart(m *schema.Message, t tree.Tree) (tree.Tree, []FieldFault, error) {
	return new(conformer).object(m, t)
}

// object conforms a whole object.
//
// Maps in Go have no order, but equal requests are to have equal warnings: so faults are sorted by path.
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
		return nil, c.faults, c.err
	}
	if m.Custom != nil {
		var err error
		if out, c.faults, err = pruneUnknown(m, out, c.faults, c.keepNulls); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(c.faults, func(a, b FieldFault) int { return strings.Compare(a.Path, b.Path) })
	return out, c.faults, nil
}

// A conformer walks over a tree along its plan. Its methods return nil for what does not fit.
//
// It has the path and the faults of a decoder (pathTracker), so that both word what they find in the same
// way. Memory is taken only where something changes: see tree.CopyOnWrite.
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
//
// It goes by the fields of the plan and looks each up in the object. So the order in which errors are
// found, of which the first is reported, is fixed, and no name is looked up in the plan as long as all are
// known.
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
	edit := tree.CopyOnWrite{From: object}
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
	if edit.Copy() != nil && !c.keepNulls {
		dropNulls(edit.Copy())
	}
	return edit.Result()
}

// member conforms the value of one field.
func (c *conformer) member(m *schema.Message, f *schema.Field, v any, edit *tree.CopyOnWrite) {
	c.pushField(m, f)
	replace(edit, f.Name, v, c.field(f, v))
	c.pop()
}

// replace gives a key the value v in place of old; nothing is copied if they are the same. A nil is always
// written, for dropNulls to find.
func replace(edit *tree.CopyOnWrite, key string, old, v any) {
	if v == nil || !tree.SameRef(old, v) {
		edit.Set(key, v)
	}
}

// additionalFields handles the keys of a message that its plan does not have: they are reported and
// dropped, except for those of every object.
//
// Those of every object, kind and apiVersion, need not be in the plan.
func (c *conformer) additionalFields(m *schema.Message, root bool, edit *tree.CopyOnWrite) {
	for _, key := range sortedKeys(nil, edit.From) {
		switch f := fieldOf(m, key, root); {
		case f == nil:
			c.unknown(key)
			edit.Drop(key)
		case m.Field(key) == nil:
			c.member(m, f, edit.From[key], edit)
		}
	}
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
	c.mismatchOf(v, goType(f))
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
	edit := tree.CopyOnWrite{From: table}
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
	return edit.Result()
}

// entry conforms one entry of a map.
//
// Of a configuration to apply (keepNulls), an entry that is null stays nil, because naming a key is owning
// it.
func (c *conformer) entry(f *schema.Field, key string, v any, edit *tree.CopyOnWrite) {
	if v == nil && c.keepNulls {
		return
	}
	c.pushKey(key)
	replace(edit, key, v, c.element(f, v))
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
