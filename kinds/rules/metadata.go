package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// MaxAnnotationsSize is the maximum total size of an object's annotation keys and values, in bytes.
const MaxAnnotationsSize = 256 << 10

// validateMetadata checks the metadata m of any object. old is the previous metadata, or nil.
// Unchanged names are not checked again.
func validateMetadata(k *schema.Kind, m, old tree.Tree, faults *schema.Faults) {
	sameNames := !slices.ContainsFunc([]string{"name", "generateName", "namespace"}, func(field string) bool {
		return m.String(field) != old.String(field)
	})
	if old == nil || !sameNames {
		validateNames(k, m, faults)
	}
	if n, ok := m.Int("generation"); ok && n < 0 {
		faults.Invalid("metadata.generation", n, "must be greater than or equal to 0")
	}
	if m.Has("labels") {
		ValidateLabels(m.Object("labels"), "metadata.labels", faults)
	}
	if m.Has("annotations") {
		ValidateAnnotations(m.Object("annotations"), "metadata.annotations", faults)
	}
	if m.Has("ownerReferences") {
		validateOwners(m, faults)
	}
	if m.Has("finalizers") {
		validateFinalizers(k, m, faults)
	}
	validateManagers(m, faults)
}

// embeddedKind is the Kind for validating the metadata of embedded objects. Their names must only
// be path segments, and their namespaces may be absent.
var embeddedKind = &schema.Kind{NameFormat: schema.NamePathSegment, Strategy: embeddedStrategy{}}

type embeddedStrategy struct{ schema.DefaultStrategy }

func (embeddedStrategy) AllowsUnqualifiedFinalizers() bool { return true }

// ValidateEmbeddedMetadata checks the metadata of an embedded object at path. Name and namespace
// may be absent.
func ValidateEmbeddedMetadata(m tree.Tree, path string, faults *schema.Faults) {
	k, named := embeddedKind, maps.Clone(m)
	if m.String("namespace") != "" {
		namespaced := *k
		namespaced.Namespaced = true
		k = &namespaced
	}
	if m.String("name") == "" {
		named["name"] = "unnamed"
	}
	var found schema.Faults
	validateMetadata(k, named, nil, &found)
	for _, c := range found.List {
		c.Field = path + strings.TrimPrefix(c.Field, "metadata")
		faults.Add(c)
	}
}

func validateNames(k *schema.Kind, m tree.Tree, faults *schema.Faults) {
	ValidateName(k.NameFormat, m, faults)
	if m.String("name") == "" && m.String("generateName") == "" {
		faults.Required("metadata.name", "name or generateName is required")
	}
	ns := m.String("namespace")
	switch {
	case !k.Namespaced && ns != "":
		faults.Forbidden("metadata.namespace", "not allowed on this type")
	case k.Namespaced && ns == "":
		faults.Required("metadata.namespace")
	case k.Namespaced:
		for _, msg := range Label(ns) {
			faults.Invalid("metadata.namespace", ns, msg)
		}
	}
}

// ValidateName checks name and generateName in the metadata m, if present.
func ValidateName(f schema.NameFormat, m tree.Tree, faults *schema.Faults) {
	name, prefix := m.String("name"), m.String("generateName")
	if prefix != "" {
		for _, msg := range CheckName(f, maskTrailingDash(prefix)) {
			faults.Invalid("metadata.generateName", prefix, msg)
		}
	}
	if name != "" {
		for _, msg := range CheckName(f, name) {
			faults.Invalid("metadata.name", name, msg)
		}
	}
}

// CheckName checks a name against a kind's name format.
func CheckName(f schema.NameFormat, name string) []string {
	switch f {
	case schema.NameLabel:
		return Label(name)
	case schema.NamePathSegment:
		return pathName(name)
	}
	return Subdomain(name)
}

// maskTrailingDash replaces a trailing dash of generateName with a letter. The dash is valid,
// because a suffix follows it.
func maskTrailingDash(prefix string) string {
	if p, ok := strings.CutSuffix(prefix, "-"); ok && p != "" {
		return p + "a"
	}
	return prefix
}

// ValidateLabels checks the keys and values of labels at path.
func ValidateLabels(labels tree.Tree, path string, faults *schema.Faults) {
	for _, key := range labels.SortedKeys() {
		for _, msg := range QualifiedName(key) {
			faults.Invalid(path, key, msg)
		}
		value := labels.String(key)
		for _, msg := range LabelValue(value) {
			faults.Invalid(path, value, msg)
		}
	}
}

// ValidateAnnotations checks the keys and the total size of annotations at path.
func ValidateAnnotations(annotations tree.Tree, path string, faults *schema.Faults) {
	for _, key := range annotations.SortedKeys() {
		for _, msg := range QualifiedName(lowerPrefix(key)) {
			faults.Invalid(path, key, msg)
		}
	}
	if AnnotationsSize(annotations) > MaxAnnotationsSize {
		faults.TooLong(path, MaxAnnotationsSize)
	}
}

// AnnotationsSize returns the total size of keys and values in bytes, which MaxAnnotationsSize
// limits.
func AnnotationsSize(annotations tree.Tree) (size int) {
	for key, value := range annotations {
		text, _ := value.(string)
		size += len(key) + len(text)
	}
	return size
}

func lowerPrefix(key string) string {
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return strings.ToLower(key[:i]) + key[i:]
	}
	return key
}

func validateOwners(m tree.Tree, faults *schema.Faults) {
	const path = "metadata.ownerReferences"
	controller := ""
	for i, o := range m.Objects("ownerReferences") {
		at, version, kind := tree.IndexPath(path, i), o.String("apiVersion"), o.String("kind")
		if strings.HasSuffix(version, "/") || strings.Count(version, "/") > 1 {
			faults.Invalid(at+".apiVersion", version, "must be <group>/<version> or <version>")
		}
		for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
			if o.String(name) == "" {
				faults.Required(at+"."+name, "must not be empty")
			}
		}
		if version == "v1" && kind == "Event" {
			faults.Invalid(at, o, "/v1, Kind=Event is disallowed from being an owner")
		}
		if !o.Bool("controller") {
			continue
		}
		this := kind + "/" + o.String("name")
		if controller != "" {
			faults.Invalid(path, m.List("ownerReferences"),
				fmt.Sprintf("Only one reference can have Controller set to true. Found \"true\" in references for %s and %s", controller, this))
		}
		controller = this
	}
}

func validateFinalizers(k *schema.Kind, m tree.Tree, faults *schema.Faults) {
	const path = "metadata.finalizers"
	names := m.Strings("finalizers")
	for i, name := range names {
		for _, msg := range QualifiedName(name) {
			faults.Invalid(path, name, msg) // without the index, as in Kubernetes
		}
		if !strings.Contains(name, "/") && !standardFinalizer(name) && !k.Strategy.AllowsUnqualifiedFinalizers() {
			faults.Invalid(tree.IndexPath(path, i), name, "name is neither a standard finalizer name nor is it fully qualified")
		}
	}
	if slices.Contains(names, meta.OrphanFinalizer) && slices.Contains(names, meta.ForegroundFinalizer) {
		faults.Invalid(path, m.List("finalizers"), "finalizer orphan and foregroundDeletion cannot be both set")
	}
}

// FinalizerWarnings returns a warning for each new finalizer in m without a domain, sorted by name,
// for kinds that do not require a domain.
func FinalizerWarnings(m, old tree.Tree) []string {
	var warnings []string
	known := old.Strings("finalizers")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(m.Strings("finalizers")))) {
		if slices.Contains(known, name) || strings.Contains(name, "/") || standardFinalizer(name) {
			continue
		}
		form := "a domain-qualified finalizer name"
		if strings.Contains(name, ".") {
			form += " including a path (/)"
		}
		warnings = append(warnings, fmt.Sprintf("metadata.finalizers: %q: prefer %s to avoid accidental conflicts with other finalizer writers", name, form))
	}
	return warnings
}

func standardFinalizer(name string) bool {
	return name == meta.OrphanFinalizer || name == meta.ForegroundFinalizer ||
		name == meta.Platform.NamespaceFinalizer() || name == meta.Kubernetes.NamespaceFinalizer()
}

func validateManagers(m tree.Tree, faults *schema.Faults) {
	for i, e := range m.Objects("managedFields") {
		path := func(field string) string { return tree.IndexPath("metadata.managedFields", i) + field }
		switch op := e.String("operation"); op {
		case "":
			faults.Required(path(".operation"), "must not be empty")
		case "Apply", "Update":
		default:
			faults.NotSupported(path(".operation"), op, []string{"Apply", "Update"})
		}
		if t := e.String("fieldsType"); t != "" && t != "FieldsV1" {
			faults.Invalid(path(".fieldsType"), t, "must be `FieldsV1`")
		}
		if len(e.String("manager")) > 128 {
			faults.TooLong(path(".manager"), 128)
		}
		if len(e.String("subresource")) > 256 {
			faults.TooLong(path(".subresource"), 256)
		}
	}
}

// validateMetadataUpdate reports forbidden changes to metadata. Absent fields count as unchanged,
// because the caller copies a missing uid or time from old.
func validateMetadataUpdate(m, old tree.Tree, faults *schema.Faults) {
	if old.Has("deletionTimestamp") {
		validateNoNewFinalizers(m, old, faults)
	}
	now, _ := m.Int("generation")
	was, _ := old.Int("generation")
	if m.Has("generation") && now < was {
		faults.Invalid("metadata.generation", now, "must not be decremented")
	}
	for _, name := range []string{"name", "namespace"} {
		if m.String(name) != old.String(name) {
			faults.Invalid("metadata."+name, m.String(name), fieldImmutable)
		}
	}
	for _, name := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		if m.Has(name) && !tree.SemanticEqual(m[name], old[name]) {
			faults.Invalid("metadata."+name, m[name], fieldImmutable)
		}
	}
}

func validateNoNewFinalizers(m, old tree.Tree, faults *schema.Faults) {
	names := old.Strings("finalizers")
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	var added []string
	for _, name := range m.Strings("finalizers") {
		if !known[name] {
			added = append(added, name)
		}
	}
	if len(added) > 0 {
		slices.Sort(added)
		faults.Forbidden("metadata.finalizers",
			fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))
	}
}
