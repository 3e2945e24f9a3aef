package openapi_test

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// These tests use the kind Gadget with fields of all types, the Scale of its subresource, a
// deprecated kind, and a custom kind, whose messages have no names.

func number(n int64) *int64 { return &n }

func message(name, doc string, fields ...*schema.Field) *schema.Message {
	m := schema.NewMessage(name, fields...)
	m.Doc = doc
	return m
}

func typed(m *schema.Message) *schema.Declaration {
	m.HasTypeMeta = true
	return schema.DeclarationOf(m)
}

var (
	objectMeta = message("meta.v1.ObjectMeta", "ObjectMeta is what all objects have.",
		&schema.Field{Name: "name"}, &schema.Field{Name: "creationTimestamp", Type: schema.TypeTime, EmitEmpty: true})
	metadata = &schema.Field{Name: "metadata", Type: schema.TypeMessage, Message: objectMeta, EmitEmpty: true}
)

func shared(name string) *schema.Message {
	m := message(name, "")
	m.HasTypeMeta = name != "meta.v1.ListMeta"
	return m
}

func gadgetSpec() *schema.Message {
	part := message("storage.v1.Part", "A Part of a Gadget.",
		&schema.Field{Name: "name", EmitEmpty: true, Required: true},
		&schema.Field{Name: "protocol", EmitEmpty: true, Default: "TCP"},
		&schema.Field{Name: "at", Type: schema.TypeIntOrString})
	inner := message("storage.v1.Inner", "Inner refers to itself.")
	inner.Fields = []*schema.Field{{Name: "inner", Type: schema.TypeMessage, Message: inner}}
	inner.Index()
	return message("storage.v1.GadgetSpec", "GadgetSpec is what a Gadget should be.",
		&schema.Field{Name: "class", Doc: "As in the label storageclass.platform.io/class, of the platform.", Enum: []string{"Fast", "Slow"}, Default: "Fast"},
		&schema.Field{Name: "replicas", Type: schema.TypeInt32, Pointer: true, Min: number(0), Max: number(9), Default: int64(1)},
		&schema.Field{Name: "size", Type: schema.TypeInt64, EmitEmpty: true},
		&schema.Field{Name: "share", Type: schema.TypeDouble},
		&schema.Field{Name: "key", Type: schema.TypeBytes},
		&schema.Field{Name: "on", Type: schema.TypeBool, EmitEmpty: true, Pointer: true},
		&schema.Field{Name: "since", Type: schema.TypeMicroTime},
		&schema.Field{Name: "every", Type: schema.TypeDuration},
		&schema.Field{Name: "extra", Type: schema.TypeRaw, Doc: "Anything \"else\" <here>."},
		&schema.Field{Name: "host", Pattern: "^[a-z]+$", MinLength: 1, MaxLength: 63, Immutable: true},
		&schema.Field{Name: "limits", Type: schema.TypeQuantity, Shape: schema.Map, MaxItems: 3},
		&schema.Field{Name: "selector", Shape: schema.Map, MapAtomic: true},
		&schema.Field{Name: "parts", Type: schema.TypeMessage, Message: part, Shape: schema.List, Doc: "What it consists of.",
			ListType: schema.ListMap, ListMapKeys: []string{"name", "protocol"}, MergeKey: "name", MergeStrategies: []string{"merge", "retainKeys"}, MaxItems: 16},
		&schema.Field{Name: "tags", Shape: schema.List, ListType: schema.ListSet, MergeStrategies: []string{"merge"}, Enum: []string{"a", "b"}},
		&schema.Field{Name: "args", Shape: schema.List},
		&schema.Field{Name: "groups", Type: schema.TypeStrings, Shape: schema.Map},
		&schema.Field{Name: "either", Type: schema.TypeRaw, Message: message("storage.v1.PartOrBool", "A part or a bool.")},
		&schema.Field{Name: "inner", Type: schema.TypeMessage, Message: inner, MapAtomic: true, Default: tree.Tree{}, MergeStrategies: []string{"retainKeys"}})
}

func gadgets(n *meta.Naming) []*schema.Kind {
	storage := n.Translate("storage.platform.io")
	kind := func(group, version, name string) meta.GroupVersionKind {
		return meta.GroupVersionKind{Group: group, Version: version, Kind: name}
	}
	all := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	scale := &schema.Kind{
		GroupVersionKind: kind("autoscaling", "v1", "Scale"),
		Declared:         typed(message("autoscaling.v1.Scale", "A Scale is a number of replicas.", metadata)),
	}
	gadget := &schema.Kind{
		GroupVersionKind: kind(storage, "v1", "Gadget"), Resource: "gadgets", Namespaced: true, Verbs: all,
		Writes: schema.Writes{DeleteReturnsObject: true},
		Subresources: []schema.Subresource{
			{Name: "status", Verbs: []string{"get", "patch", "update"}},
			{Name: "scale", Verbs: []string{"get", "patch", "update"}, Kind: scale.GroupVersionKind, BodyKind: scale},
		},
		Declared: typed(message("storage.v1.Gadget", "A Gadget is for tests.", metadata,
			&schema.Field{Name: "spec", Type: schema.TypeMessage, Message: gadgetSpec(), EmitEmpty: true})),
	}
	old := &schema.Kind{
		GroupVersionKind: kind("", "v1", "Old"), Resource: "olds", Verbs: []string{"create"},
		Deprecation: &schema.Deprecation{Since: "1.2"}, Declared: typed(message("core.v1.Old", "", metadata)),
	}
	custom := &schema.Kind{
		GroupVersionKind: kind("stable.cron-tabs.example.com", "v1beta1", "CronTab"), Resource: "crontabs", Namespaced: true, Verbs: all,
		Names: schema.Names{List: "CronTabs"}, Origin: &schema.Origin{Schema: cronTabs{}},
		// A field without a Name is selectable only in another version.
		SelectFields: []schema.SelectField{{Name: "spec.cron", Path: "spec.cron"}, {Path: "spec.other"}},
	}
	return []*schema.Kind{old, gadget, custom}
}

type cronTabs struct{ schema.Schema }

func (cronTabs) Tree() tree.Tree {
	properties := func(of tree.Tree) tree.Tree { return tree.Tree{"type": "object", "properties": of} }
	spec := properties(tree.Tree{
		"cron": tree.Tree{"type": "string"},
		"jobs": tree.Tree{"type": "array", "items": properties(tree.Tree{"when": tree.Tree{"type": "string", "format": "date-time"}})},
	})
	spec["description"], spec["required"] = "When.", []any{"cron"}
	root := properties(tree.Tree{"spec": spec})
	root["description"] = "A CronTab says when."
	return root
}

func documents(n *meta.Naming) *openapi.Documents {
	return openapi.New(openapi.Options{
		Naming: n, Kinds: gadgets(n), Message: shared, Version: "v1.35.0",
		Patches: []string{"application/merge-patch+json", "application/strategic-merge-patch+json"},
	})
}
