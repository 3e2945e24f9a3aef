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
	naming *meta.Naming
	keys   Keys
	head   *schema.Message
}

// NewCompiler makes one for a profile. head is the plan of the metadata of objects.
func NewCompiler(n *meta.Naming, head *schema.Message) *Compiler {
	return &Compiler{naming: n, keys: NewKeys(n), head: head}
}

// Compile makes the kinds of a definition, a valid tree of that kind, by the names that it was
// accepted under. Views of sub-resources
// are not filled in. It is nil if no version is stored.
func (c *Compiler) Compile(t schema.Tree) *Definition {
	spec := rules.Sub(t, "spec")
	d := &Definition{Name: rules.Text(rules.Sub(t, "metadata"), "name")}
	names := rules.Sub(t, "status", "acceptedNames")
	if rules.Text(names, "plural") == "" {
		names = rules.Sub(spec, "names")
	}
	var all []*schema.Kind
	roots := map[*schema.Kind]*node{}
	for _, v := range rules.Trees(spec, "versions") {
		k, root := c.version(d.Name, spec, names, v)
		all, roots[k] = append(all, k), root
		if rules.Flag(v, "storage") {
			d.Stored = k
		}
		if rules.Flag(v, "served") {
			d.Served = append(d.Served, k)
		}
	}
	if d.Stored == nil {
		return nil
	}
	d.Stored.Forms = all
	for _, k := range all {
		k.Stored = d.Stored
		offer(d.Stored, k.SelectFields)
		link(k, roots[k], roots[d.Stored])
	}
	return d
}

// offer lets objects be found by the fields that some version selects by: those that the stored
// version does not offer have no name in it.
func offer(stored *schema.Kind, fields []schema.SelectField) {
	for _, f := range fields {
		if !slices.ContainsFunc(stored.SelectFields, func(known schema.SelectField) bool { return known.Path == f.Path }) {
			stored.Indexed = append(stored.Indexed, len(stored.SelectFields))
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
	root := &node{kind: "object", open: true}
	k.Message = c.root(k, root, nil)
	k.Stored, k.Forms = k, []*schema.Kind{k}
	return k
}

// version makes the kind of one version.
func (c *Compiler) version(name string, spec, names, v schema.Tree) (*schema.Kind, *node) {
	k := &schema.Kind{
		GroupVersionKind:  meta.GroupVersionKind{Group: rules.Text(spec, "group"), Version: rules.Text(v, "name"), Kind: rules.Text(names, "kind")},
		Resource:          rules.Text(names, "plural"),
		Singular:          rules.Text(names, "singular"),
		List:              rules.Text(names, "listKind"),
		ShortNames:        rules.Texts(names, "shortNames"),
		Categories:        rules.Texts(names, "categories"),
		Namespaced:        rules.Text(spec, "scope") == "Namespaced",
		Verbs:             schema.StandardVerbs(),
		ConditionalUpdate: true,
		Generation:        true,
		Definition:        name,
		Deprecation:       deprecation(spec, names, v),
		Columns:           columns(v),
		Subresources:      c.subresources(v),
	}
	k.Storage = meta.GroupResource{Group: k.Group, Resource: k.Resource}
	k.Item = 1 // items of lists say what they are
	for i, f := range rules.Trees(v, "selectableFields") {
		path := strings.TrimPrefix(rules.Text(f, "jsonPath"), ".")
		k.SelectFields = append(k.SelectFields, schema.SelectField{Name: path, Path: path})
		k.Indexed = append(k.Indexed, i)
	}
	text := rules.Sub(v, "schema", "openAPIV3Schema")
	root := c.keys.compile(text)
	if len(text) == 0 {
		root.open = true
	}
	k.Message = c.root(k, root, text)
	return k, root
}

// root is the plan of whole objects.
func (c *Compiler) root(k *schema.Kind, n *node, text schema.Tree) *schema.Message {
	fields := []*schema.Field{{Name: "metadata", Type: schema.TypeMessage, Message: c.head, Always: true}}
	p := planner{unwritten(c.head)}
	for _, name := range n.names {
		if !itself(name) {
			fields = append(fields, p.field(n.properties[name], name))
		}
	}
	m := schema.NewMessage("", fields...)
	m.Typed = true
	m.Doc = rules.Text(text, "description")
	m.Other = p.other(n)
	m.Custom = &schema.Custom{Form: meta.NewForm(), Schema: text, Prune: n.object}
	return m
}

// link gives a kind its functions: root is its own schema, stored that of the stored kind.
func link(k *schema.Kind, root, stored *node) {
	k.Rules.Default = root.complete
	show := func(t schema.Tree) schema.Tree { return t }
	if k.Stored != k {
		show = func(t schema.Tree) schema.Tree {
			t, _ = root.object(t)
			root.complete(t)
			return t
		}
		k.Conversion = schema.Conversion{
			FromStored: show,
			ToStored: func(t schema.Tree) schema.Tree {
				t, _ = stored.object(t)
				return t
			},
		}
	}
	k.Rules.Warn, k.Rules.PlainFinalizers = warn, true
	served := func(t schema.Tree) schema.Tree {
		if k.Stored == k || t == nil {
			return t
		}
		return show(rules.Clone(t).(schema.Tree))
	}
	k.Rules.Served = func(obj, old schema.Tree, faults *schema.Faults) {
		root.validate(served(obj), served(old), faults)
	}
	if root.hasRules {
		k.Rules.Evaluate = func(ctx context.Context, obj, old schema.Tree, faults *schema.Faults) {
			root.follow(ctx, served(obj), served(old), faults)
		}
	}
}

// warn tells of new finalizers whose names may be those of others.
func warn(obj, old schema.Tree) []string {
	return rules.FinalizerWarnings(rules.Sub(obj, "metadata"), rules.Sub(old, "metadata"))
}

// deprecation is what users of a version are told; nil if it is to stay.
func deprecation(spec, names, v schema.Tree) *schema.Deprecation {
	if !rules.Flag(v, "deprecated") {
		return nil
	}
	d := &schema.Deprecation{Warning: rules.Text(v, "deprecationWarning")}
	if better := replacement(spec, rules.Text(v, "name")); better != "" {
		d.Replacement = rules.Text(spec, "group") + "/" + better + " " + rules.Text(names, "kind")
	}
	return d
}

// replacement is the version to go to from an older one: the best that is served and stays; "" if
// none is better.
func replacement(spec schema.Tree, from string) (best string) {
	for _, v := range rules.Trees(spec, "versions") {
		name := rules.Text(v, "name")
		if rules.Flag(v, "served") && !rules.Flag(v, "deprecated") && meta.CompareVersions(name, cmp.Or(best, from)) < 0 {
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
			Name: rules.Text(c, "name"), Type: rules.Text(c, "type"), Format: rules.Text(c, "format"),
			Description: rules.Text(c, "description"), Priority: int32(priority), Path: "json:" + rules.Text(c, "jsonPath"),
		})
	}
	if len(all) == 1 {
		all = append(all, createdColumn)
	}
	return all
}

func (c *Compiler) subresources(v schema.Tree) []schema.Subresource {
	var all []schema.Subresource
	declared := rules.Sub(v, "subresources")
	if scale, ok := declared["scale"].(schema.Tree); ok {
		path := func(name string) string { return strings.TrimPrefix(rules.Text(scale, name), ".") }
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
