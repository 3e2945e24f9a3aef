package codec

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// field builds the fields of the test plan, a small kind with a field of every type and shape.

func field(name string, t schema.Type, wire ...int32) *schema.Field {
	return &schema.Field{Name: name, Type: t, Wire: wire, WireEmitEmpty: t != schema.TypeBytes}
}

func list(name string, t schema.Type, wire ...int32) *schema.Field {
	return &schema.Field{Name: name, Type: t, Shape: schema.List, Wire: wire}
}

func mapOf(name string, t schema.Type, wire ...int32) *schema.Field {
	return &schema.Field{Name: name, Type: t, Shape: schema.Map, Wire: wire}
}

func of(f *schema.Field, m *schema.Message) *schema.Field {
	f.Type, f.Message = schema.TypeMessage, m
	return f
}

func pointer(f *schema.Field) *schema.Field {
	f.Pointer, f.WireEmitEmpty = true, false
	return f
}

func emitEmpty(f *schema.Field) *schema.Field {
	f.EmitEmpty = true
	return f
}

var ownerPlan = schema.NewMessage("meta.v1.OwnerReference",
	emitEmpty(field("apiVersion", schema.TypeString, 5)),
	emitEmpty(field("kind", schema.TypeString, 1)),
	emitEmpty(field("name", schema.TypeString, 3)),
	emitEmpty(field("uid", schema.TypeString, 4)),
	pointer(field("controller", schema.TypeBool, 6)),
	pointer(field("blockOwnerDeletion", schema.TypeBool, 7)),
)

var metaPlan = schema.NewMessage("meta.v1.ObjectMeta",
	field("name", schema.TypeString, 1),
	field("generateName", schema.TypeString, 2),
	field("namespace", schema.TypeString, 3),
	field("uid", schema.TypeString, 5),
	field("resourceVersion", schema.TypeString, 6),
	field("generation", schema.TypeInt64, 7),
	field("creationTimestamp", schema.TypeTime, 8),
	pointer(field("deletionTimestamp", schema.TypeTime, 9)),
	pointer(field("deletionGracePeriodSeconds", schema.TypeInt64, 10)),
	mapOf("labels", schema.TypeString, 11),
	mapOf("annotations", schema.TypeString, 12),
	of(list("ownerReferences", 0, 13), ownerPlan),
	list("finalizers", schema.TypeString, 14),
)

var partPlan = schema.NewMessage("core.v1.Part",
	emitEmpty(field("name", schema.TypeString, 1)),
	field("hostPath", schema.TypeString, 2, 1),
	pointer(field("optional", schema.TypeBool, 2, 2)),
	mapOf("limits", schema.TypeQuantity, 3),
)

var specPlan = schema.NewMessage("core.v1.ThingSpec",
	field("nodeName", schema.TypeString, 10),
	field("hostNetwork", schema.TypeBool, 11),
	pointer(field("replicas", schema.TypeInt32, 1)),
	field("count", schema.TypeInt32, 2),
	field("big", schema.TypeInt64, 3),
	field("ratio", schema.TypeDouble, 4),
	of(list("parts", 0, 5), partPlan),
	list("args", schema.TypeString, 6),
	list("ports", schema.TypeInt32, 7),
	pointer(field("target", schema.TypeIntOrString, 8)),
	pointer(field("size", schema.TypeQuantity, 9)),
	pointer(field("at", schema.TypeMicroTime, 12)),
	pointer(field("wait", schema.TypeDuration, 13)),
	pointer(field("extra", schema.TypeRaw, 14)),
	emitEmpty(list("needed", schema.TypeString, 15)),
)

var thingPlan = schema.NewMessage("core.v1.Thing",
	emitEmpty(of(field("metadata", 0, 1), metaPlan)),
	mapOf("data", schema.TypeString, 2),
	mapOf("binaryData", schema.TypeBytes, 3),
	pointer(field("immutable", schema.TypeBool, 4)),
	emitEmpty(of(field("spec", 0, 5), specPlan)),
)

var thing = &schema.Kind{
	GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "Thing"},
	Declared:         schema.DeclarationOf(thingPlan),
	SelectFields: []schema.SelectField{
		{Name: "spec.nodeName", Path: "spec.nodeName"}, {Name: "shared", Path: "spec.hostNetwork"}, {Name: "spec.replicas", Path: "spec.replicas"},
	},
}
