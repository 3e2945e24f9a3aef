package codec

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Conform applies the checks of DecodeJSON to a patched tree and normalizes its values. It does not
// change t, whose unchanged parts the result shares. It does not check top-level fields again if
// they share memory with the same field of base. base may be nil.
//
// Numbers may be int64, float64 or json.Number. For a field replicas of type int32:
//
//	json.Number("3"), float64(3)   becomes int64(3)
//	json.Number("3.5"), "3"        is an error with the message of DecodeJSON
//	nil                            is dropped, like a null field of a body
//
// An error reports the first value of a wrong type, excessive nesting, or too many messages.
func Conform(m *schema.Message, t, base tree.Tree) (tree.Tree, []FieldFault, error) {
	c := &conformer{root: true, base: base, encodedFieldSets: base != nil}
	return c.object(m, t)
}

// ConformConfig is Conform for apply configurations. It keeps null fields as nil.
func ConformConfig(m *schema.Message, t tree.Tree) (tree.Tree, []FieldFault, error) {
	c := &conformer{root: true, keepNulls: true}
	return c.object(m, t)
}

// ConformPart is Conform for a part of an object, such as its metadata, with message m.
func ConformPart(m *schema.Message, t tree.Tree) (tree.Tree, []FieldFault, error) {
	return new(conformer).object(m, t)
}

// object checks a whole object. It sorts faults by path, because Go maps have no order and equal
// requests must return equal warnings.
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

// A conformer checks a tree against the fields of a message. Its methods return nil for invalid
// values and record the error in the pathTracker, as the decoder does. They allocate only if a
// value changes.
type conformer struct {
	pathTracker
	root             bool // the current message is the whole object
	base             tree.Tree
	encodedFieldSets bool // field sets may be strings, as in stored trees
	depth            int
	tooDeep          bool // the tree exceeds jsontext.MaxDepth
	messages         int
	keepNulls        bool
}

// enter adds one nesting level and reports whether the depth is within the limit. If so, the caller
// must defer leave.
func (c *conformer) enter() bool {
	c.depth++
	c.tooDeep = c.tooDeep || c.depth > jsontext.MaxDepth
	return !c.tooDeep
}

func (c *conformer) leave() { c.depth-- }

// message converts the fields of an object to their declared types. It iterates over the fields of
// m, so that errors have a fixed order.
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

func (c *conformer) member(m *schema.Message, f *schema.Field, v any, edit *tree.CopyOnWrite) {
	c.pushField(m, f)
	replace(edit, f.Name, v, c.field(f, v))
	c.pop()
}

// replace sets a key to v unless old is the same value. It also sets the key if both are nil, so
// that the object is copied and dropNulls can remove the key.
func replace(edit *tree.CopyOnWrite, key string, old, v any) {
	if v == nil || !tree.SameRef(old, v) {
		edit.Set(key, v)
	}
}

// additionalFields drops and reports keys that are not in the plan. The root object may have kind
// and apiVersion.
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

// field checks and normalizes the value of a field. It returns nil for null and for invalid values.
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
	if c.err != before { // repeat in key order, so that the reported error is deterministic
		c.err = before
		for _, key := range sortedKeys(nil, table) {
			c.entry(f, key, table[key], &edit)
		}
	}
	return edit.Result()
}

// entry conforms a map entry. With keepNulls, it keeps null entries, because the manager of an
// apply configuration owns every key in it.
func (c *conformer) entry(f *schema.Field, key string, v any, edit *tree.CopyOnWrite) {
	if v == nil && c.keepNulls {
		return
	}
	c.pushKey(key)
	replace(edit, key, v, c.element(f, v))
	c.pop()
}

func (c *conformer) element(f *schema.Field, v any) any {
	if v != nil {
		v = c.single(f, v)
	}
	if v == nil {
		return Zero(f)
	}
	return v
}
