package crd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Definition contains the kinds of one CRD.
type Definition struct {
	Name string // <plural>.<group>
	// Served lists the kinds that clients can use, one per version, in CRD order.
	Served []*schema.Kind
	// Stored is the kind of the storage version. It need not be served.
	Stored *schema.Kind
}

// A Compiler compiles CRDs into kinds.
type Compiler struct {
	naming     *meta.Naming
	extensions Extensions
	objectMeta *schema.Message
	// embeddedMeta is objectMeta for embedded objects: every field is optional, empty fields are
	// kept, and missing ones are not added.
	embeddedMeta *schema.Message
	schemaProps  *schema.Declaration // for the schemas in CRDs
	approval     string              // approval annotation, in quotes
	validations  []byte              // quoted JSON key of rules
	schemas      schemaCache
}

// NewCompiler returns a Compiler for a naming profile. objectMeta is the message of object
// metadata, and schemaProps is the message of the schemas in CRDs.
func NewCompiler(n *meta.Naming, objectMeta *schema.Message, schemaProps *schema.Declaration) *Compiler {
	c := &Compiler{naming: n, extensions: NewExtensions(n), objectMeta: objectMeta, schemaProps: schemaProps}
	c.approval = strconv.Quote(NewApprovalPolicy(n).Annotation)
	c.validations, c.schemas.limit = []byte(`"`+c.extensions.Validations+`"`), DefaultSchemaMemory
	if objectMeta != nil {
		c.embeddedMeta = withExplicitPresence(objectMeta)
	}
	return c
}

// Compile returns the kinds of a valid CRD, or nil if no version is the storage version. The CRD
// may be the result of Outline. Compile does not set the views of subresources.
//
// Compile uses the names in status.acceptedNames, because names in the spec may belong to another
// CRD. Before any names are accepted, it uses those in the spec.
func (c *Compiler) Compile(t tree.Tree) *Definition {
	spec := t.Object("spec")
	d := &Definition{Name: t.Name()}
	names := t.Object("status", "acceptedNames")
	if names.String("plural") == "" {
		names = spec.Object("names")
	}
	draining := tree.IsConditionTrue(t.Object("status"), "Terminating")
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

func addUnconverted(stored *schema.Kind) {
	unconverted, origin := *stored, *stored.Origin
	unconverted.Origin, origin.Unconverted = &origin, &unconverted
	for _, k := range stored.Versions {
		k.Origin.Unconverted = &unconverted
	}
}

func conversionWebhook(spec tree.Tree) *schema.ConversionWebhook {
	conversion := spec.Object("conversion")
	if conversion.String("strategy") != "Webhook" {
		return nil
	}
	hook := conversion.Object("webhook")
	return &schema.ConversionWebhook{ReviewVersions: hook.Strings("conversionReviewVersions"), ClientConfig: hook.Object("clientConfig")}
}

// addWorkingForms sets the working form of each version of a CRD with a conversion webhook: a copy
// of the kind that is its own storage version.
func addWorkingForms(all []*schema.Kind) {
	var forms []*schema.Kind
	for _, k := range all {
		form, origin := *k, *k.Origin
		form.Origin = &origin
		form.Stored = &form
		form.SelectFields = k.Stored.SelectFields // ObjectMeta.Fields has these
		form.SetStrategy(newStrategy(&form))
		k.Origin.WorkingForm, origin.WorkingForm = &form, &form
		forms = append(forms, &form)
	}
	for _, form := range forms {
		form.Versions = forms
	}
}

// ShareText points the kinds to the schemas in outline, a newer revision of the CRD with equal
// schemas, so that the older revision can be freed.
func (d *Definition) ShareText(outline tree.Tree) {
	for i, v := range outline.Object("spec").Objects("versions") {
		if all := d.Stored.Versions; i < len(all) && all[i].Version == v.String("name") {
			schemaOf(all[i]).setSource(v.Object("schema")["openAPIV3Schema"])
		}
	}
}

// Release evicts the compiled schemas. The kinds remain usable.
func (d *Definition) Release() {
	for _, k := range d.Stored.Versions {
		s := schemaOf(k)
		s.compiler.schemas.release(s)
	}
}

func schemaOf(k *schema.Kind) *definedSchema { return k.Origin.Schema.(*definedSchema) }

// addSelectFields adds the selectable fields of a version to the stored kind, because objects are
// indexed in their stored form. The added fields have no name, so field selectors for the storage
// version cannot use them.
func addSelectFields(stored *schema.Kind, fields []schema.SelectField) {
	for _, f := range fields {
		if !slices.ContainsFunc(stored.SelectFields, func(known schema.SelectField) bool { return known.Path == f.Path }) {
			stored.SelectFields = append(stored.SelectFields, schema.SelectField{Path: f.Path, Indexed: true})
		}
	}
}

// Opaque returns a kind for stored objects whose CRD is unknown, as may happen during startup. Such
// objects can be read and deleted.
func (c *Compiler) Opaque(storage meta.GroupResource) *schema.Kind {
	k := &schema.Kind{
		GroupVersionKind: meta.GroupVersionKind{Group: storage.Group}, Resource: storage.Resource, Storage: storage,
		Origin:   &schema.Origin{Definition: storage.Resource + "." + storage.Group, Schema: c.newSchema(nil)},
		Strategy: schema.DefaultStrategy{},
	}
	k.Stored, k.Versions = k, []*schema.Kind{k}
	return k
}

// verbs lists the verbs of every custom kind, in kube-apiserver's discovery order.
var verbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

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
	k.Storage = k.GroupResource()
	for _, f := range v.Objects("selectableFields") {
		path := strings.TrimPrefix(f.String("jsonPath"), ".")
		k.SelectFields = append(k.SelectFields, schema.SelectField{Name: path, Path: path, Indexed: true})
	}
	return k
}

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

func replacement(spec tree.Tree, from string) (best string) {
	for _, v := range spec.Objects("versions") {
		name := v.String("name")
		if v.Bool("served") && !v.Bool("deprecated") && meta.CompareVersions(name, cmp.Or(best, from)) < 0 {
			best = name
		}
	}
	return best
}

// nameColumn is the first column of every table. createdColumn is the second if the CRD declares
// none.
var (
	nameColumn = schema.Column{Name: "Name", Type: "string", Format: "name", Path: "metadata.name",
		Description: "The name of the object, unique among those of its kind in its namespace."}
	createdColumn = schema.Column{Name: "Created At", Type: "date", Path: "func:createdAt",
		Description: "When the server created the object, in UTC."}
)

// columns returns at least two columns, so that every table shows more than names.
func columns(v tree.Tree) []schema.Column {
	all := []schema.Column{nameColumn}
	for _, c := range v.Objects("additionalPrinterColumns") {
		priority, _ := c.Int("priority")
		description := cmp.Or(c.String("description"), "Custom resource definition column (in JSONPath format): "+c.String("jsonPath"))
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

// subresources returns the declared subresources. A declaration may be empty (status: {}). Unlike
// for most built-in kinds, a status update cannot change labels or other metadata.
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
