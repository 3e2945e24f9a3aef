package custom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
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
	// embeddedMeta is objectMeta in the objects of custom kinds.
	embeddedMeta  *schema.Message
	schemaMessage *schema.Message // of the schemas of definitions
	approval      string          // the annotation of an approval, in quotes
	validations   []byte          // the key of rules, as it is written in JSON
	schemas       schemaCache
}

// NewCompiler makes one for a naming profile. objectMeta is the message of the metadata of objects, schemaProps that of
// the schemas of definitions.
func NewCompiler(n *meta.Naming, objectMeta, schemaProps *schema.Message) *Compiler {
	c := &Compiler{naming: n, extensions: NewExtensions(n), objectMeta: objectMeta, schemaMessage: schemaProps}
	c.approval = strconv.Quote(NewApprovalPolicy(n).Annotation)
	c.validations, c.schemas.limit = []byte(`"`+c.extensions.Validations+`"`), DefaultSchemaMemory
	if objectMeta != nil {
		c.embeddedMeta = withExplicitPresence(objectMeta)
	}
	return c
}

// Compile makes the kinds of a definition, which is the tree of a valid one or its outline, by the names that were
// accepted. It does not fill in the views of sub-resources. It returns nil if no version is stored.
//
// The names are those that were accepted (status.acceptedNames), since others may be taken by another definition; the
// spec counts while none are accepted. No schema is looked at here (definedSchema).
func (c *Compiler) Compile(t tree.Tree) *Definition {
	spec := t.Object("spec")
	d := &Definition{Name: t.Object("metadata").String("name")}
	names := t.Object("status", "acceptedNames")
	if names.String("plural") == "" {
		names = spec.Object("names")
	}
	draining := condition.IsTrue(t.Object("status"), "Terminating")
	var all []*schema.Kind
	for _, v := range spec.Objects("versions") {
		k := c.version(d.Name, spec, names, v)
		k.Origin.Draining = draining
		all = append(all, k)
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
		k.SetStrategy(newStrategy(k))
	}
	if hook := conversionWebhook(spec); hook != nil {
		for _, k := range all {
			k.Origin.ConversionWebhook = hook
		}
		addWorkingForms(all)
		addUnconverted(d.Stored)
	}
	return d
}

// addUnconverted gives the versions of a definition that a webhook converts their Unconverted kind.
func addUnconverted(stored *schema.Kind) {
	unconverted, origin := *stored, *stored.Origin
	unconverted.Origin, origin.Unconverted = &origin, &unconverted
	for _, k := range stored.Versions {
		k.Origin.Unconverted = &unconverted
	}
}

// conversionWebhook returns the webhook that converts the objects of a definition; nil if the server itself does.
func conversionWebhook(spec tree.Tree) *schema.ConversionWebhook {
	conversion := spec.Object("conversion")
	if conversion.String("strategy") != "Webhook" {
		return nil
	}
	hook := conversion.Object("webhook")
	return &schema.ConversionWebhook{ReviewVersions: hook.Strings("conversionReviewVersions"), ClientConfig: hook.Object("clientConfig")}
}

// addWorkingForms gives the versions of a definition that a webhook converts their working forms. They share all but
// what depends on the version that objects are stored in.
func addWorkingForms(all []*schema.Kind) {
	var forms []*schema.Kind
	for _, k := range all {
		form, origin := *k, *k.Origin
		form.Origin = &origin
		form.Stored = &form
		form.SelectFields = k.Stored.SelectFields // by which heads are read
		form.SetStrategy(newStrategy(&form))
		k.Origin.WorkingForm, origin.WorkingForm = &form, &form
		forms = append(forms, &form)
	}
	for _, form := range forms {
		form.Versions = forms
	}
}

// ShareText lets the kinds of a definition share the memory of another text with equal schemas: that of a later state of
// the definition, whose spec is the same. Else the former state would stay in memory for as long as the kinds.
func (d *Definition) ShareText(outline tree.Tree) {
	for i, v := range outline.Object("spec").Objects("versions") {
		if all := d.Stored.Versions; i < len(all) && all[i].Version == v.String("name") {
			schemaOf(all[i]).setSource(v.Object("schema")["openAPIV3Schema"])
		}
	}
}

// Release drops what the kinds of a definition have been compiled to. They can still be used, by those who have found them
// before they were removed.
func (d *Definition) Release() {
	for _, k := range d.Stored.Versions {
		s := schemaOf(k)
		s.compiler.schemas.release(s)
	}
}

// schemaOf is the schema of a kind that this package has made.
func schemaOf(k *schema.Kind) *definedSchema { return k.Origin.Schema.(*definedSchema) }

// addSelectFields indexes the fields that any version selects by. Those that the storage version does not offer have no
// name in it.
//
// Objects are indexed in their stored form, whatever version is asked for, and so that form must know all fields.
func addSelectFields(stored *schema.Kind, fields []schema.SelectField) {
	for _, f := range fields {
		if !slices.ContainsFunc(stored.SelectFields, func(known schema.SelectField) bool { return known.Path == f.Path }) {
			stored.SelectFields = append(stored.SelectFields, schema.SelectField{Path: f.Path, Indexed: true})
		}
	}
}

// Opaque is a kind for stored objects that have no definition: they are kept as they are.
//
// It is what keeps objects readable and deletable when the server starts with a definition missing.
func (c *Compiler) Opaque(storage meta.GroupResource) *schema.Kind {
	k := &schema.Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: storage.Group}, Resource: storage.Resource, Storage: storage,
		Origin:   &schema.Origin{Definition: storage.Resource + "." + storage.Group, Schema: c.newSchema(nil)},
		Strategy: schema.DefaultStrategy{},
	}
	k.Stored, k.Versions = k, []*schema.Kind{k}
	return k
}

// verbs are those of all kinds that definitions make, in the order that clients know from discovery.
var verbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

// version makes the kind of one version.
func (c *Compiler) version(name string, spec, names, v tree.Tree) *schema.Kind {
	k := &schema.Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: spec.String("group"), Version: v.String("name"), Kind: names.String("kind")},
		Resource:         names.String("plural"),
		Names: schema.Names{
			Singular: names.String("singular"), List: names.String("listKind"),
			Short: names.Strings("shortNames"), Categories: names.Strings("categories"),
		},
		Namespaced:   spec.String("scope") == "Namespaced",
		Verbs:        verbs,
		Writes:       schema.Writes{ConditionalUpdate: true, Generation: true},
		Origin:       &schema.Origin{Definition: name, Schema: c.newSchema(v.Object("schema")["openAPIV3Schema"])},
		Deprecation:  deprecation(spec, names, v),
		Columns:      columns(v),
		Subresources: c.subresources(v),
	}
	k.Storage = meta.GroupResource{Group: k.Group, Resource: k.Resource}
	for _, f := range v.Objects("selectableFields") {
		path := strings.TrimPrefix(f.String("jsonPath"), ".")
		k.SelectFields = append(k.SelectFields, schema.SelectField{Name: path, Path: path, Indexed: true})
	}
	return k
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
//
// Example: of v1 and v2beta1, which are both served, v1 is the better one for v1beta1.
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

// A table has two columns at least, so that a definition without any still shows more than names.
func columns(v tree.Tree) []schema.Column {
	all := []schema.Column{nameColumn}
	for _, c := range v.Objects("additionalPrinterColumns") {
		priority, _ := c.Int("priority")
		description := c.String("description")
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + c.String("jsonPath")
		}
		all = append(all, schema.Column{
			Name: c.String("name"), Type: c.String("type"), Format: c.String("format"),
			Description: description, Priority: int32(priority), Path: "json:" + c.String("jsonPath"),
		})
	}
	if len(all) == 1 {
		all = append(all, createdColumn)
	}
	return all
}

// A sub-resource exists if it is declared, even as an empty object; the status takes over nothing of the metadata.
func (c *Compiler) subresources(v tree.Tree) []schema.Subresource {
	var all []schema.Subresource
	declared := v.Object("subresources")
	if declared["status"] != nil {
		all = append(all, schema.Subresource{
			Name: "status", Verbs: schema.SubresourceVerbs(), Field: "status", KeepsMetadata: []string{schema.EveryField},
		})
	}
	if scale, ok := declared["scale"].(tree.Tree); ok {
		path := func(name string) string { return strings.TrimPrefix(scale.String(name), ".") }
		all = append(all, schema.Subresource{
			Name: "scale", Verbs: schema.SubresourceVerbs(),
			Kind:  meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
			Scale: &schema.Scale{Replicas: path("specReplicasPath"), StatusReplicas: path("statusReplicasPath"), Selector: path("labelSelectorPath")},
		})
	}
	return all
}
