package crd

import (
	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// TypeOf returns the CEL type of a kind's objects. name is the prefix of object type names, as in
// cel.NewType. Objects without a schema have the dynamic type. Each call compiles the schema again,
// so frequent callers should keep the result.
func TypeOf(n *meta.Naming, k *schema.Kind, name string) *cel.Type {
	if !k.IsCustom() {
		return cel.MessageType(k.Message(), name)
	}
	text := k.Origin.Schema.Tree()
	if len(text) == 0 {
		return cel.Dyn
	}
	extensions := NewExtensions(n)
	if t := cel.NewType(extensions.compile(text).expressionSchema(true), name, true); t != nil {
		return t
	}
	return cel.Dyn
}
