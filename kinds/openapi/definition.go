package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// definitions collects the schemas to which a document refers, directly or indirectly, while its
// paths are written. It stores functions that build the schemas later, which saves memory and
// allows recursive messages.
type definitions struct {
	names      names
	dialect    dialect
	kinds      map[*schema.Message][]meta.GroupVersionKind // GVKs of messages of built-in kinds
	objectMeta *schema.Message
	builders   map[string]func() object // by name
}

func (d *definitions) sorted(yield func(string, object) bool) {
	for _, name := range slices.Sorted(maps.Keys(d.builders)) {
		if !yield(name, d.builders[name]()) {
			return
		}
	}
}

// add registers a definition and reports whether it is new. To end the recursion, callers follow
// only the references of new definitions.
func (d *definitions) add(name string, build func() object) bool {
	if d.builders[name] != nil {
		return false
	}
	d.builders[name] = build
	return true
}

func (d *definitions) kind(k *schema.Kind) string {
	if k.IsCustom() {
		return d.customKind(k)
	}
	return d.named(d.names.kind(k), k.Message())
}

func (d *definitions) message(m *schema.Message) string {
	return d.named(d.names.message(m), m)
}

func (d *definitions) named(name string, m *schema.Message) string {
	if d.add(name, func() object { return d.structure(m) }) {
		d.addReferences(m)
	}
	return name
}

// addReferences registers the definitions to which a message's fields refer, including those of
// inlined messages, which have no name.
func (d *definitions) addReferences(m *schema.Message) {
	for _, f := range m.Fields {
		switch {
		case f.Type != schema.TypeMessage:
			d.scalar(m, f)
		case f.Message.Name == "":
			d.addReferences(f.Message)
		default:
			d.message(f.Message)
		}
	}
}

// list registers a kind's list definition and returns its name. The plan has no messages for lists,
// because all have the same fields.
func (d *definitions) list(k *schema.Kind, listMeta *schema.Message) string {
	name := d.names.list(k)
	item, metadata := d.kind(k), d.message(listMeta)
	d.add(name, func() object {
		properties := object{
			{"apiVersion", text(aboutAPIVersion)},
			{"items", object{
				{"description", "List of " + k.Resource + "."}, {"type", "array"}, {"items", d.dialect.ref(item)},
			}},
			{"kind", text(aboutKind)},
			{"metadata", d.dialect.refWith(metadata, object{{"description", aboutListMeta}})},
		}
		gvk := k.GroupVersionKind
		gvk.Kind = k.ListKind()
		o := object{
			{"description", gvk.Kind + " is a list of " + k.Kind + "."}, {"type", "object"},
			{"required", []string{"items"}}, {"properties", properties},
			{d.names.extension("group-version-kind"), []any{gvkObject(gvk)}},
		}
		return d.withSelectableFields(o, k)
	})
	return name
}

// Descriptions of common fields. Clients recognize some fields by the first words of the
// description, and the conformance suite expects some words (TestConformanceWords in kinds/api).
const (
	aboutAPIVersion = "APIVersion defines the schema of the object, as group/version; the core group has only a version."
	aboutKind       = "The kind of the object. It cannot be changed."
	aboutObjectMeta = "Standard object's metadata: name, namespace, labels, annotations, owners, versions."
	aboutListMeta   = "Standard list metadata: the version of the list, and the token of its next chunk."
	aboutSpec       = "The desired state."
	aboutStatus     = "The observed state."
)

func text(description string) object { return object{{"description", description}, {"type", "string"}} }

func (d *definitions) structure(m *schema.Message) object {
	return append(object{}.withText("description", d.names.applyNaming(m.Doc)), d.members(m)...)
}

func (d *definitions) members(m *schema.Message) object {
	o := object{{"type", "object"}}
	var required []string
	properties := make(object, 0, len(m.Fields)+2)
	if m.HasTypeMeta {
		properties = append(properties, member{"apiVersion", text(aboutAPIVersion)}, member{"kind", text(aboutKind)})
	}
	for _, f := range m.Fields {
		if isRequired(f) {
			required = append(required, f.Name)
		}
		properties = append(properties, member{f.Name, d.property(m, f)})
	}
	slices.SortFunc(properties, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	if len(required) > 0 {
		slices.Sort(required)
		o = o.with("required", required)
	}
	if len(properties) > 0 {
		o = o.with("properties", properties)
	}
	if gvks := d.gvks(m); len(gvks) > 0 {
		o = o.with(d.names.extension("group-version-kind"), gvks)
	}
	return o
}

func (d *definitions) gvks(m *schema.Message) []any {
	gvks := d.kinds[m]
	if short, ok := strings.CutPrefix(m.Name, "meta.v1."); ok && m.HasTypeMeta && len(gvks) == 0 {
		gvks = []meta.GroupVersionKind{{Version: "v1", Kind: short}}
	}
	var all []any
	for _, gvk := range gvks {
		all = append(all, gvkObject(gvk))
	}
	return all
}

func gvkObject(gvk meta.GroupVersionKind) object {
	return object{{"group", gvk.Group}, {"kind", gvk.Kind}, {"version", gvk.Version}}
}

// isRequired reports whether a field is required. Some fields are required because the server
// rejects objects without them, such as a container's name. Others are always present in responses,
// such as restartCount. A field with a default is required only if its declaration says so, because
// the server sets the default.
func isRequired(f *schema.Field) bool {
	switch {
	case f.Documented != schema.PresenceDerived:
		return f.Documented == schema.PresenceRequired
	case f.Required:
		return f.Default == nil
	}
	_, plain := plainTypes[f.Type]
	return f.EmitEmpty && !f.Pointer && f.Shape == schema.Single && plain && f.Default == nil
}
