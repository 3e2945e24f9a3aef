package custom

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Definition is what one definition makes.
type Definition struct {
	Name string // <plural>.<group>
	// Served are the kinds that clients can use, one for each version, in the order of the definition.
	Served []*schema.Kind
	// Stored is the kind in whose form objects are stored. It may be served or not.
	Stored *schema.Kind
}

// A Compiler makes kinds of definitions.
type Compiler struct {
	naming     *meta.Naming
	extensions Extensions
	objectMeta *schema.Message
}

// NewCompiler makes one for a profile. head is the plan of the metadata of objects.
func NewCompiler(n *meta.Naming, objectMeta *schema.Message) *Compiler {
	return &Compiler{naming: n, extensions: NewExtensions(n), objectMeta: objectMeta}
}

// Compile makes the kinds of a definition, a valid tree of that kind, by the names that it was
// accepted under. Views of sub-resources
// are not filled in. It is nil if no version is stored.
func (c *Compiler) Compile(t schema.Tree) *Definition {
	spec := rules.Nested(t, "spec")
	d := &Definition{Name: rules.String(rules.Nested(t, "metadata"), "name")}
	names := rules.Nested(t, "status", "acceptedNames")
	if rules.String(names, "plural") == "" {
		names = rules.Nested(spec, "names")
	}
	var all []*schema.Kind
	roots := map[*schema.Kind]*node{}
	for _, v := range rules.Trees(spec, "versions") {
		k, root := c.version(d.Name, spec, names, v)
		all, roots[k] = append(all, k), root
		if rules.Bool(v, "storage") {
			d.Stored = k
		}
		if rules.Bool(v, "served") {
			d.Served = append(d.Served, k)
		}
	}
	if d.Stored == nil {
		return nil
	}
	d.Stored.Versions = all
	for _, k := range all {
		k.Stored = d.Stored
		addSelectFields(d.Stored, k.SelectFields)
		setRules(k, roots[k], roots[d.Stored])
	}
	return d
}

// addSelectFields lets objects be found by the fields that some version selects by: those that the stored
// version does not offer have no name in it.
func addSelectFields(stored *schema.Kind, fields []schema.SelectField) {
	for _, f := range fields {
		if !slices.ContainsFunc(stored.SelectFields, func(known schema.SelectField) bool { return known.Path == f.Path }) {
			stored.IndexedFields = append(stored.IndexedFields, len(stored.SelectFields))
			stored.SelectFields = append(stored.SelectFields, schema.SelectField{Path: f.Path})
		}
	}
}

// Opaque is a kind for stored objects whose definition there is not: they stay as they are.
func (c *Compiler) Opaque(storage meta.GroupResource) *schema.Kind {
	k := &schema.Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: storage.Group}, Resource: storage.Resource, Storage: storage,
		Definition: storage.Resource + "." + storage.Group,
	}
	root := &node{kind: "object", preserveUnknown: true}
	k.Message = c.rootMessage(k, root, nil)
	k.Stored, k.Versions = k, []*schema.Kind{k}
	return k
}

// version makes the kind of one version.
func (c *Compiler) version(name string, spec, names, v schema.Tree) (*schema.Kind, *node) {
	k := &schema.Kind{
		GroupVersionKind:  meta.GroupVersionKind{Group: rules.String(spec, "group"), Version: rules.String(v, "name"), Kind: rules.String(names, "kind")},
		Resource:          rules.String(names, "plural"),
		Singular:          rules.String(names, "singular"),
		ListKindName:      rules.String(names, "listKind"),
		ShortNames:        rules.Strings(names, "shortNames"),
		Categories:        rules.Strings(names, "categories"),
		Namespaced:        rules.String(spec, "scope") == "Namespaced",
		Verbs:             schema.StandardVerbs(),
		ConditionalUpdate: true,
		Generation:        true,
		Definition:        name,
		Deprecation:       deprecation(spec, names, v),
		Columns:           columns(v),
		Subresources:      c.subresources(v),
	}
	k.Storage = meta.GroupResource{Group: k.Group, Resource: k.Resource}
	k.ItemOffset = 1 // items of lists say what they are
	for i, f := range rules.Trees(v, "selectableFields") {
		path := strings.TrimPrefix(rules.String(f, "jsonPath"), ".")
		k.SelectFields = append(k.SelectFields, schema.SelectField{Name: path, Path: path})
		k.IndexedFields = append(k.IndexedFields, i)
	}
	text := rules.Nested(v, "schema", "openAPIV3Schema")
	root := c.extensions.compile(text)
	if len(text) == 0 {
		root.preserveUnknown = true
	}
	k.Message = c.rootMessage(k, root, text)
	return k, root
}

// rootMessage is the plan of whole objects.
func (c *Compiler) rootMessage(k *schema.Kind, n *node, text schema.Tree) *schema.Message {
	fields := []*schema.Field{{Name: "metadata", Type: schema.TypeMessage, Message: c.objectMeta, EmitEmpty: true}}
	p := planner{withExplicitPresence(c.objectMeta)}
	for _, name := range n.names {
		if !isMetaField(name) {
			fields = append(fields, p.field(n.properties[name], name))
		}
	}
	m := schema.NewMessage("", fields...)
	m.HasTypeMeta = true
	m.Doc = rules.String(text, "description")
	m.Additional = p.additional(n)
	m.Custom = &schema.Custom{SchemaID: meta.NewSchemaID(), Schema: text, Prune: n.prune}
	return m
}

// setRules gives a kind its functions: root is its own schema, stored that of the stored kind.
func setRules(k *schema.Kind, root, stored *node) {
	k.Rules.Default = root.setDefaults
	show := func(t schema.Tree) schema.Tree { return t }
	if k.Stored != k {
		show = func(t schema.Tree) schema.Tree {
			t, _ = root.prune(t)
			root.setDefaults(t)
			return t
		}
		k.Conversion = schema.Conversion{
			FromStored: show,
			ToStored: func(t schema.Tree) schema.Tree {
				t, _ = stored.prune(t)
				return t
			},
		}
	}
	k.Rules.Warn, k.Rules.AllowUnqualifiedFinalizers = warn, true
	served := func(t schema.Tree) schema.Tree {
		if k.Stored == k || t == nil {
			return t
		}
		return show(rules.Clone(t).(schema.Tree))
	}
	k.Rules.ValidateServed = func(obj, old schema.Tree, faults *schema.Faults) {
		root.validate(served(obj), served(old), faults)
	}
	if root.hasRules {
		k.Rules.Evaluate = func(ctx context.Context, obj, old schema.Tree, faults *schema.Faults) {
			root.evaluateRules(ctx, served(obj), served(old), faults)
		}
	}
}

// warn tells of new finalizers whose names may be those of others.
func warn(obj, old schema.Tree) []string {
	return rules.FinalizerWarnings(rules.Nested(obj, "metadata"), rules.Nested(old, "metadata"))
}

// deprecation is what users of a version are told; nil if it is to stay.
func deprecation(spec, names, v schema.Tree) *schema.Deprecation {
	if !rules.Bool(v, "deprecated") {
		return nil
	}
	d := &schema.Deprecation{Warning: rules.String(v, "deprecationWarning")}
	if better := replacement(spec, rules.String(v, "name")); better != "" {
		d.Replacement = rules.String(spec, "group") + "/" + better + " " + rules.String(names, "kind")
	}
	return d
}

// replacement is the version to go to from an older one: the best that is served and stays; "" if
// none is better.
func replacement(spec schema.Tree, from string) (best string) {
	for _, v := range rules.Trees(spec, "versions") {
		name := rules.String(v, "name")
		if rules.Bool(v, "served") && !rules.Bool(v, "deprecated") && meta.CompareVersions(name, cmp.Or(best, from)) < 0 {
			best = name
		}
	}
	return best
}

// The columns of every table, and of those that have no others.
var (
	nameColumn = schema.Column{Name: "Name", Type: "string", Format: "name", Path: "metadata.name",
		Description: "The name of the object, unique among those of its kind in its namespace."}
	createdColumn = schema.Column{Name: "Created At", Type: "date", Path: "func:createdAt",
		Description: "When the server created the object, in UTC."}
)

func columns(v schema.Tree) []schema.Column {
	all := []schema.Column{nameColumn}
	for _, c := range rules.Trees(v, "additionalPrinterColumns") {
		priority, _ := rules.Int(c, "priority")
		all = append(all, schema.Column{
			Name: rules.String(c, "name"), Type: rules.String(c, "type"), Format: rules.String(c, "format"),
			Description: rules.String(c, "description"), Priority: int32(priority), Path: "json:" + rules.String(c, "jsonPath"),
		})
	}
	if len(all) == 1 {
		all = append(all, createdColumn)
	}
	return all
}

func (c *Compiler) subresources(v schema.Tree) []schema.Subresource {
	var all []schema.Subresource
	declared := rules.Nested(v, "subresources")
	if scale, ok := declared["scale"].(schema.Tree); ok {
		path := func(name string) string { return strings.TrimPrefix(rules.String(scale, name), ".") }
		all = append(all, schema.Subresource{
			Name: "scale", Verbs: schema.SubresourceVerbs(),
			Kind:  meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
			Scale: &schema.Scale{Replicas: path("specReplicasPath"), StatusReplicas: path("statusReplicasPath"), Selector: path("labelSelectorPath")},
		})
	}
	if declared["status"] != nil {
		all = append(all, schema.Subresource{
			Name: "status", Verbs: schema.SubresourceVerbs(), Field: "status", KeepsMetadata: []string{schema.EveryField},
		})
	}
	return all
}
