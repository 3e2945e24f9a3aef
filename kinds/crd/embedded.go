package crd

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// embeds reports whether a node contains embedded objects, which have kind, apiVersion and
// metadata regardless of their schema.

func (n *node) embeds() bool {
	if n.embedded || n.items != nil && n.items.hasEmbedded || n.additional != nil && n.additional.hasEmbedded {
		return true
	}
	for _, p := range n.properties {
		if p.hasEmbedded {
			return true
		}
	}
	return false
}

// A coercer normalizes the metadata of embedded objects by removing unknown and empty fields.
type coercer struct {
	tree.Position
	metadata *schema.Message
	// dropMalformed drops fields of the wrong type instead of reporting them, so that stored
	// objects remain readable.
	dropMalformed bool
	unknown       []string
	faults        schema.Faults // values of the wrong type; the first one ends the walk
}

func (c *coercer) err() error {
	if len(c.faults.List) == 0 {
		return nil
	}
	return errors.New(c.faults.List[0].Field + ": " + c.faults.List[0].Message)
}

// value returns v with normalized metadata. It does not modify v, and returns v itself if nothing
// changes.
func (c *coercer) value(n *node, v any) any {
	if n == nil || !n.hasEmbedded || len(c.faults.List) > 0 {
		return v
	}
	switch v := v.(type) {
	case tree.Tree:
		return c.object(n, v)
	case []any:
		var out []any
		for i, item := range v {
			back := c.EnterItem(i)
			made := c.value(n.items, item)
			c.Leave(back)
			if out == nil && !tree.SameRef(made, item) {
				out = append(make([]any, 0, len(v)), v[:i]...)
			}
			if out != nil {
				out = append(out, made)
			}
		}
		if out != nil {
			return out
		}
	}
	return v
}

func (c *coercer) object(n *node, object tree.Tree) any {
	edit := tree.CopyOnWrite{From: object}
	for _, name := range object.SortedKeys() {
		v := object[name]
		back := n.enter(&c.Position, name)
		switch {
		case !n.embedded || !schema.IsResourceField(name):
			if made := c.value(n.child(name), v); !tree.SameRef(made, v) {
				edit.Set(name, made)
			}
		case name == "metadata":
			c.objectMeta(&edit, v)
		default:
			if _, text := v.(string); !text {
				c.malformed(&edit, name, v, "must be a string")
			}
		}
		c.Leave(back)
	}
	return edit.Result()
}

func (c *coercer) objectMeta(edit *tree.CopyOnWrite, v any) {
	metadata, ok := v.(tree.Tree)
	if !ok && v != nil {
		c.malformed(edit, "metadata", v, "must be an object")
		return
	}
	made, faults, err := codec.ConformPart(c.metadata, metadata)
	if err != nil && c.dropMalformed {
		made, faults = c.wellFormed(metadata)
	} else if err != nil {
		c.malformed(edit, "metadata", v, err.Error())
		return
	}
	for _, f := range faults {
		if len(c.unknown) < rules.MaxUnknown {
			c.unknown = append(c.unknown, c.Cut(maxPath)+"."+f.Path)
		}
	}
	if made = c.withoutEmpty(made); made == nil { // null equals empty
		edit.Set("metadata", tree.Tree{})
	} else if !tree.SameRef(made, v) {
		edit.Set("metadata", made)
	}
}

func (c *coercer) wellFormed(metadata tree.Tree) (tree.Tree, []codec.FieldFault) {
	kept := make(tree.Tree, len(metadata))
	for name, v := range metadata {
		if _, _, err := codec.ConformPart(c.metadata, tree.Tree{name: v}); err == nil {
			kept[name] = v
		}
	}
	kept, faults, err := codec.ConformPart(c.metadata, kept)
	if err != nil { // the value is too large or too deep
		return tree.Tree{}, nil
	}
	return kept, faults
}

func (c *coercer) withoutEmpty(metadata tree.Tree) tree.Tree {
	edit := tree.CopyOnWrite{From: metadata}
	for name, v := range metadata {
		f, empty := c.metadata.Field(name), false
		switch v := v.(type) {
		case nil:
			empty = true
		case string:
			empty = v == ""
		case int64:
			empty = v == 0 && !f.Pointer
		case tree.Tree:
			empty = len(v) == 0
		case []any:
			empty = len(v) == 0
		}
		if empty {
			edit.Drop(name)
		}
	}
	return edit.Result()
}

func (c *coercer) malformed(edit *tree.CopyOnWrite, name string, v any, msg string) {
	if c.dropMalformed {
		edit.Drop(name)
		return
	}
	c.faults.Invalid(string(c.Position), v, msg)
}

// maxPath is the maximum length of paths in errors, in bytes, as in schema.Faults.
const maxPath = 8 << 10

// validateEmbedded validates kind, apiVersion and metadata of embedded objects, even unchanged
// ones.
func (n *node) validateEmbedded(v any, at *tree.Position, faults *schema.Faults) {
	if n == nil || !n.hasEmbedded {
		return
	}
	switch v := v.(type) {
	case tree.Tree:
		if n.embedded {
			validateResource(v, at.Cut(maxPath), faults)
		}
		for _, name := range v.SortedKeys() {
			if !n.embedded || !schema.IsResourceField(name) {
				back := n.enter(at, name)
				n.child(name).validateEmbedded(v[name], at, faults)
				at.Leave(back)
			}
		}
	case []any:
		for i, item := range v {
			back := at.EnterItem(i)
			n.items.validateEmbedded(item, at, faults)
			at.Leave(back)
		}
	}
}

func validateResource(object tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"apiVersion", "kind"} {
		v, there := object[name]
		at := tree.FieldPath(path, name)
		if text, isText := v.(string); !there {
			faults.Required(at)
		} else if !isText {
			faults.Invalid(at, v, "must be a string")
		} else if msg := resourceFieldFault(name, text); msg != "" {
			faults.Invalid(at, text, msg)
		}
	}
	if metadata, ok := object["metadata"].(tree.Tree); ok {
		rules.ValidateEmbeddedMetadata(metadata, tree.FieldPath(path, "metadata"), faults)
	}
}

func (n *node) enter(at *tree.Position, name string) (back int) {
	if n.properties[name] == nil && n.additional != nil {
		return at.EnterKey(name)
	}
	return at.EnterField(name)
}

func resourceFieldFault(name, text string) string {
	switch {
	case text == "":
		return "must not be empty"
	case name == "apiVersion" && strings.Count(text, "/") > 1:
		return "unexpected GroupVersion string: " + text
	case name == "kind":
		if msgs := rules.Label1035(strings.ToLower(text)); len(msgs) > 0 {
			return "may have mixed case, but should otherwise match: " + strings.Join(msgs, ",")
		}
	}
	return ""
}
