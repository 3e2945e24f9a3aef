package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A definitionValidator knows the names that a profile gives to what definitions may say.
type definitionValidator struct {
	keys               custom.Extensions
	compiler           *custom.Compiler
	protectedDomains   []string // domains whose groups need an approval
	approvalAnnotation string   // annotation that tells of it
}

func definitionRules(n *meta.Naming) schema.Rules {
	c := definitionValidator{
		keys:               custom.NewExtensions(n),
		compiler:           custom.NewCompiler(n, nil),
		protectedDomains:   []string{strings.TrimPrefix(n.Group(""), "."), n.Translate("platform.io")},
		approvalAnnotation: n.Translate("api-approved.platform.io"),
	}
	return schema.Rules{
		Default: defaultDefinition, Prepare: prepareDefinition,
		Validate: c.validate, ValidateSpec: c.validateSpec, ValidateUpdate: validateDefinitionUpdate, AllowUnqualifiedFinalizers: true,
		BeginDelete: func(obj schema.Tree, now string) { setTerminatingCondition(obj, n.Translate(CleanupFinalizer), now) },
	}
}

// CleanupFinalizer holds a definition, in platform form, until its objects have gone.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"

// setTerminatingCondition says of a definition that its objects are going to be deleted.
func setTerminatingCondition(obj schema.Tree, finalizer, now string) {
	metadata := rules.EnsureNested(obj, "metadata")
	if held := rules.Items(metadata, "finalizers"); !slices.Contains(held, any(finalizer)) {
		metadata["finalizers"] = append(slices.Clone(held), finalizer)
	}
	status := rules.EnsureNested(obj, "status")
	kept := slices.DeleteFunc(slices.Clone(rules.Items(status, "conditions")), func(c any) bool {
		tree, _ := c.(schema.Tree)
		return tree["type"] == "Terminating"
	})
	status["conditions"] = append(kept, schema.Tree{
		"type": "Terminating", "status": "True", "lastTransitionTime": now, "reason": "InstanceDeletionPending",
		"message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}

// defaultDefinition derives the names that are left out.
func defaultDefinition(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	names := rules.EnsureNested(spec, "names")
	kind := rules.String(names, "kind")
	if rules.String(names, "singular") == "" && kind != "" {
		names["singular"] = strings.ToLower(kind)
	}
	if rules.String(names, "listKind") == "" && kind != "" {
		names["listKind"] = kind + "List"
	}
}

// prepareDefinition leaves the status to its sub-resource, but for the version that
// objects are stored in, which counts as used from now on.
func prepareDefinition(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{}
	} else {
		obj["status"] = rules.Clone(rules.Nested(old, "status"))
	}
	status := rules.EnsureNested(obj, "status")
	for _, v := range rules.Trees(rules.Nested(obj, "spec"), "versions") {
		if name := rules.String(v, "name"); rules.Bool(v, "storage") && !slices.Contains(rules.Strings(status, "storedVersions"), name) {
			status["storedVersions"] = append(slices.Clone(rules.Items(status, "storedVersions")), name)
		}
	}
}

func (c definitionValidator) validate(obj schema.Tree, faults *schema.Faults) {
	spec, metadata := rules.Nested(obj, "spec"), rules.Nested(obj, "metadata")
	if name := rules.String(metadata, "name"); name != rules.String(rules.Nested(spec, "names"), "plural")+"."+rules.String(spec, "group") {
		faults.Invalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`)
	}
	c.validateApproval(rules.String(spec, "group"), rules.Nested(metadata, "annotations"), faults)
	validateDefinitionStatus(rules.Nested(obj, "status"), spec, faults)
}

// validateSpec is apart, so that a definition whose spec was let in under other bounds can still
// get its status, and lose its finalizer.
func (c definitionValidator) validateSpec(spec schema.Tree, faults *schema.Faults) {
	validateDefinitionGroup(rules.String(spec, "group"), faults)
	validateEnum(spec, "scope", "spec", faults, "Cluster", "Namespaced")
	if rules.Bool(spec, "preserveUnknownFields") {
		faults.Invalid("spec.preserveUnknownFields", true,
			"cannot set to true, set "+c.keys.Preserve+" to true in spec.versions[*].schema instead")
	}
	c.validateVersions(spec, faults)
	names := rules.Nested(spec, "names")
	requireFields(names, "spec.names", faults, "plural", "singular", "kind", "listKind")
	validateDefinitionNames(names, "spec.names", faults)
	validateConversion(rules.Nested(spec, "conversion"), faults)
}

func validateDefinitionGroup(group string, faults *schema.Faults) {
	const path = "spec.group"
	if group == "" {
		faults.Required(path)
		return
	}
	if messages := rules.Subdomain(group); len(messages) > 0 {
		faults.Invalid(path, group, strings.Join(messages, ","))
	} else if !strings.Contains(group, ".") {
		faults.Invalid(path, group, "should be a domain with at least one dot")
	}
}

// validateApproval wants a word of those who own the domain of a group of the platform.
func (c definitionValidator) validateApproval(group string, annotations schema.Tree, faults *schema.Faults) {
	if !slices.ContainsFunc(c.protectedDomains, func(domain string) bool { return group == domain || strings.HasSuffix(group, "."+domain) }) {
		return
	}
	path, text := rules.KeyPath("metadata.annotations", c.approvalAnnotation), rules.String(annotations, c.approvalAnnotation)
	switch {
	case text == "":
		faults.Required(path, fmt.Sprintf("protected groups must have approval annotation %q", c.approvalAnnotation))
	case strings.HasPrefix(text, "unapproved"), strings.HasPrefix(text, "https://"):
	default:
		faults.Invalid(path, text, "protected groups must have approval annotation with either a URL or a reason starting with \"unapproved\"")
	}
}

// validateDefinitionNames checks the names, here or those that were accepted.
func validateDefinitionNames(names schema.Tree, path string, faults *schema.Faults) {
	label := func(s, at string) {
		if messages := rules.Label1035(s); s != "" && len(messages) > 0 {
			faults.Invalid(at, s, strings.Join(messages, ","))
		}
	}
	label(rules.String(names, "plural"), path+".plural")
	label(rules.String(names, "singular"), path+".singular")
	kind, list := rules.String(names, "kind"), rules.String(names, "listKind")
	if kind != "" {
		validateKindName(kind, path+".kind", faults)
	}
	if list != "" {
		validateKindName(list, path+".listKind", faults)
	}
	for _, field := range []string{"shortNames", "categories"} {
		for i, s := range rules.Strings(names, field) {
			label(s, rules.IndexPath(path+"."+field, i))
		}
	}
	if kind != "" && kind == list {
		faults.Invalid(path+".listKind", list, "kind and listKind may not be the same")
	}
}

// validateConversion checks who converts. Faults name the fields as users know them.
func validateConversion(conversion schema.Tree, faults *schema.Faults) {
	const path = "spec.conversion"
	webhook, there := conversion["webhook"].(schema.Tree)
	config, configured := webhook["clientConfig"].(schema.Tree)
	versions, before := rules.Strings(webhook, "conversionReviewVersions"), len(faults.List)
	if rules.String(conversion, "strategy") != "Webhook" {
		if there && configured {
			faults.Forbidden(path+".webhookClientConfig", "should not be set when strategy is not set to Webhook")
		}
		if len(versions) > 0 {
			faults.Forbidden(path+".conversionReviewVersions", "should not be set when strategy is not set to Webhook")
		}
		return
	}
	if !configured {
		faults.Required(path+".webhookClientConfig", "required when strategy is set to Webhook")
	} else {
		validateCABundle(rules.String(config, "caBundle"), nil, path+".webhookClientConfig.caBundle", faults)
		validateClientConfig(config, path+".webhookClientConfig", faults)
	}
	validateReviewVersions(versions, path+".conversionReviewVersions", faults)
	if len(faults.List) == before {
		faults.Forbidden(path+".strategy", "conversion by a webhook is not supported by this server: versions may only differ in what their schemas allow (strategy None)")
	}
}

// validateDefinitionStatus holds what is said of stored objects against the versions.
func validateDefinitionStatus(status, spec schema.Tree, faults *schema.Faults) {
	validateDefinitionNames(rules.Nested(status, "acceptedNames"), "status.acceptedNames", faults)
	const path = "status.storedVersions"
	stored := rules.Strings(status, "storedVersions")
	if len(stored) == 0 {
		faults.Invalid(path, stored, "must have at least one stored version")
	}
	known := map[string]bool{}
	for _, v := range rules.Trees(spec, "versions") {
		name := rules.String(v, "name")
		known[name] = true
		if rules.Bool(v, "storage") && !slices.Contains(stored, name) {
			faults.Invalid(path, stored, "must have the storage version "+name)
		}
	}
	for i, name := range stored {
		if !known[name] {
			faults.Invalid(rules.IndexPath(path, i), name, "missing from spec.versions; "+name+" was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in "+name+" and removes "+name+" from status.storedVersions")
		}
	}
}

// validateDefinitionUpdate keeps what other objects have built on.
func validateDefinitionUpdate(obj, old schema.Tree, faults *schema.Faults) {
	now, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	keep := func(now, was schema.Tree, name, path string) {
		if rules.String(now, name) != rules.String(was, name) {
			faults.Invalid(path+"."+name, rules.String(now, name), "field is immutable")
		}
	}
	established := findCondition(rules.Trees(rules.Nested(old, "status"), "conditions"), "Established")
	if rules.String(established, "status") == "True" {
		keep(now, was, "scope", "spec")
		keep(rules.Nested(now, "names"), rules.Nested(was, "names"), "kind", "spec.names")
	}
	keep(now, was, "group", "spec")
	keep(rules.Nested(now, "names"), rules.Nested(was, "names"), "plural", "spec.names")
}
