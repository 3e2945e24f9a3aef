package custom

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
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

// NewCompiler makes one for a naming profile. objectMeta is the message of the metadata of objects.
func NewCompiler(n *meta.Naming, objectMeta *schema.Message) *Compiler {
	return &Compiler{naming: n, extensions: NewExtensions(n), objectMeta: objectMeta}
}

// Compile makes the kinds of a definition, which is the tree of a valid one, by the names that were accepted.
// It does not fill in the views of sub-resources. It returns nil if no version is stored.
func (c *Compiler) Compile(t tree.Tree) *Definition {
	spec := t.Object("spec")
	d := &Definition{Name: t.Object("metadata").String("name")}
	names := t.Object("status", "acceptedNames")
	if names.String("plural") == "" {
		names = spec.Object("names")
	}
	var all []*schema.Kind
	roots := map[*schema.Kind]*node{}
	for _, v := range spec.Objects("versions") {
		k, root := c.version(d.Name, spec, names, v)
		all, roots[k] = append(all, k), root
		if v.Bool("storage") {
			d.Stored = k
		}
		if v.Bool("served") {
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
		setRules(k, roots[k])
	}
	return d
}

// addSelectFields indexes the fields that any version selects by. Those that the storage version does not offer have no
// name in it.
func addSelectFields(stored *schema.Kind, fields []schema.SelectField) {
	for _, f := range fields {
		if !slices.ContainsFunc(stored.SelectFields, func(known schema.SelectField) bool { return known.Path == f.Path }) {
			stored.IndexedFields = append(stored.IndexedFields, len(stored.SelectFields))
			stored.SelectFields = append(stored.SelectFields, schema.SelectField{Path: f.Path})
		}
	}
}

// capabilities are those of all kinds that definitions make.
var capabilities = schema.Capabilities{
	DefinedAtRuntime: true, SchemaPerVersion: true, ChecksSubresourceWrites: true, StoredAsWritten: true,
	ColumnsPerVersion: true, JSONOnly: true, ExplicitEmpty: true, StatusIsolated: true,
}

// Opaque is a kind for stored objects that have no definition: they are kept as they are.
func (c *Compiler) Opaque(storage meta.GroupResource) *schema.Kind {
	k := &schema.Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: storage.Group}, Resource: storage.Resource, Storage: storage,
		Definition: storage.Resource + "." + storage.Group, Capabilities: capabilities,
	}
	root := &node{kind: "object", preserveUnknown: true}
	k.Message = c.rootMessage(k, root, nil)
	k.Stored, k.Versions = k, []*schema.Kind{k}
	return k
}

// version makes the kind of one version.
func (c *Compiler) version(name string, spec, names, v tree.Tree) (*schema.Kind, *node) {
	k := &schema.Kind{
		GroupVersionKind:  meta.GroupVersionKind{Group: spec.String("group"), Version: v.String("name"), Kind: names.String("kind")},
		Resource:          names.String("plural"),
		Singular:          names.String("singular"),
		ListKindName:      names.String("listKind"),
		ShortNames:        names.Strings("shortNames"),
		Categories:        names.Strings("categories"),
		Namespaced:        spec.String("scope") == "Namespaced",
		Verbs:             schema.StandardVerbs(),
		Capabilities:      capabilities,
		ConditionalUpdate: true,
		Generation:        true,
		Definition:        name,
		Deprecation:       deprecation(spec, names, v),
		Columns:           columns(v),
		Subresources:      c.subresources(v),
	}
	k.Storage = meta.GroupResource{Group: k.Group, Resource: k.Resource}
	k.ItemOffset = 1 // items of lists have their kind and apiVersion
	for i, f := range v.Objects("selectableFields") {
		path := strings.TrimPrefix(f.String("jsonPath"), ".")
		k.SelectFields = append(k.SelectFields, schema.SelectField{Name: path, Path: path})
		k.IndexedFields = append(k.IndexedFields, i)
	}
	text := v.Object("schema", "openAPIV3Schema")
	root := c.extensions.compile(text)
	if len(text) == 0 {
		root.preserveUnknown = true
	}
	k.Message = c.rootMessage(k, root, text)
	return k, root
}

// rootMessage is the message of whole objects.
func (c *Compiler) rootMessage(k *schema.Kind, n *node, text tree.Tree) *schema.Message {
	fields := []*schema.Field{{Name: "metadata", Type: schema.TypeMessage, Message: c.objectMeta, EmitEmpty: true}}
	p := planner{withExplicitPresence(c.objectMeta)}
	for _, name := range n.names {
		if !schema.IsResourceField(name) {
			fields = append(fields, p.field(n.properties[name], name))
		}
	}
	m := schema.NewMessage("", fields...)
	m.HasTypeMeta = true
	m.Doc = text.String("description")
	m.Additional = p.additional(n)
	m.Values = n.rootValues()
	m.Custom = &schema.Custom{SchemaID: meta.NewSchemaID(), Schema: text, Prune: func(t tree.Tree) (tree.Tree, []string) {
		return rules.Prune(m.Values, t)
	}}
	return m
}

// setRules gives a kind its functions. root is its own schema.
func setRules(k *schema.Kind, root *node) {
	values, storedValues := k.Message.Values, k.Stored.Message.Values
	show := func(t tree.Tree) tree.Tree { return t }
	if k.Stored != k {
		show = func(t tree.Tree) tree.Tree {
			t, _ = rules.Prune(values, t)
			rules.DefaultValue(values, t)
			return t
		}
		k.Conversion = schema.Conversion{
			FromStored: show,
			ToStored: func(t tree.Tree) tree.Tree {
				t, _ = rules.Prune(storedValues, t)
				return t
			},
		}
	}
	k.Rules.Warn, k.Rules.AllowUnqualifiedFinalizers = warn, true
	served := func(t tree.Tree) tree.Tree {
		if k.Stored == k || t == nil {
			return t
		}
		return show(tree.Clone(t).(tree.Tree))
	}
	k.Rules.ValidateServed = func(obj, old tree.Tree, faults *schema.Faults) {
		rules.ValidateValue(values, served(obj), served(old), faults)
	}
	if root.hasRules {
		k.Rules.Evaluate = func(ctx context.Context, obj, old tree.Tree, faults *schema.Faults) {
			root.evaluateRules(ctx, served(obj), served(old), faults)
		}
	}
}

// warn warns of new finalizers without a domain in their names.
func warn(obj, old tree.Tree) []string {
	return rules.FinalizerWarnings(obj.Object("metadata"), old.Object("metadata"))
}

// deprecation is the deprecation of a version; nil if it has none.
func deprecation(spec, names, v tree.Tree) *schema.Deprecation {
	if !v.Bool("deprecated") {
		return nil
	}
	d := &schema.Deprecation{Warning: v.String("deprecationWarning")}
	if better := replacement(spec, v.String("name")); better != "" {
		d.Replacement = spec.String("group") + "/" + better + " " + names.String("kind")
	}
	return d
}

// replacement is the version to use instead of another: the best one that is served and not deprecated; "" if none is
// better.
func replacement(spec tree.Tree, from string) (best string) {
	for _, v := range spec.Objects("versions") {
		name := v.String("name")
		if v.Bool("served") && !v.Bool("deprecated") && meta.CompareVersions(name, cmp.Or(best, from)) < 0 {
			best = name
		}
	}
	return best
}

// The first column of every table, and the second one of tables that declare none.
var (
	nameColumn = schema.Column{Name: "Name", Type: "string", Format: "name", Path: "metadata.name",
		Description: "The name of the object, unique among those of its kind in its namespace."}
	createdColumn = schema.Column{Name: "Created At", Type: "date", Path: "func:createdAt",
		Description: "When the server created the object, in UTC."}
)

func columns(v tree.Tree) []schema.Column {
	all := []schema.Column{nameColumn}
	for _, c := range v.Objects("additionalPrinterColumns") {
		priority, _ := c.Int("priority")
		all = append(all, schema.Column{
			Name: c.String("name"), Type: c.String("type"), Format: c.String("format"),
			Description: c.String("description"), Priority: int32(priority), Path: "json:" + c.String("jsonPath"),
		})
	}
	if len(all) == 1 {
		all = append(all, createdColumn)
	}
	return all
}

func (c *Compiler) subresources(v tree.Tree) []schema.Subresource {
	var all []schema.Subresource
	declared := v.Object("subresources")
	if scale, ok := declared["scale"].(tree.Tree); ok {
		path := func(name string) string { return strings.TrimPrefix(scale.String(name), ".") }
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
