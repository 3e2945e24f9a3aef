package apiextensions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/internal/webhook"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A definitionValidator checks definitions, with the names that a profile uses in them.
type definitionValidator struct {
	keys               custom.Extensions
	compiler           *custom.Compiler
	protectedDomains   []string // domains whose groups need an approval
	approvalAnnotation string   // the annotation that holds the approval
}

func definitionRules(n *meta.Naming, isBuiltIn func(group string) bool) schema.Rules {
	c := definitionValidator{
		keys:               custom.NewExtensions(n),
		compiler:           custom.NewCompiler(n, nil),
		protectedDomains:   []string{strings.TrimPrefix(n.Group(""), "."), n.Translate("platform.io")},
		approvalAnnotation: n.Translate("api-approved.platform.io"),
	}
	return schema.Rules{
		Default: defaultDefinition, Prepare: prepareDefinition,
		Validate: c.validate, ValidateSpec: c.validateSpec, ValidateUpdate: validateDefinitionUpdate, AllowUnqualifiedFinalizers: true,
		ValidateServed: func(obj, old tree.Tree, faults *schema.Faults) {
			if old == nil {
				validateGroupNotBuiltIn(obj.Object("spec").String("group"), isBuiltIn, faults)
			}
		},
		BeginDelete: func(obj tree.Tree, now string) {
			setTerminatingCondition(obj, n.Translate(custom.CleanupFinalizer), now)
		},
	}
}

// validateGroupNotBuiltIn keeps new definitions out of the groups of built-in kinds. One that is
// in such a group already may change, so that it can be deleted.
func validateGroupNotBuiltIn(group string, isBuiltIn func(string) bool, faults *schema.Faults) {
	if group != "" && isBuiltIn(group) {
		faults.Invalid("spec.group", group, "must not be a group of built-in kinds")
	}
}

// setTerminatingCondition marks a definition whose objects are about to be deleted, and adds the
// finalizer that keeps it until they are gone.
func setTerminatingCondition(obj tree.Tree, finalizer, now string) {
	metadata := obj.EnsureObject("metadata")
	if held := metadata.List("finalizers"); !slices.Contains(held, any(finalizer)) {
		metadata["finalizers"] = append(slices.Clone(held), finalizer)
	}
	status := obj.EnsureObject("status")
	kept := slices.DeleteFunc(slices.Clone(status.List("conditions")), func(c any) bool {
		object, _ := c.(tree.Tree)
		return object["type"] == "Terminating"
	})
	status["conditions"] = append(kept, tree.Tree{
		"type": "Terminating", "status": "True", "lastTransitionTime": now, "reason": "InstanceDeletionPending",
		"message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}

// defaultDefinition derives the names that are left out from the kind.
func defaultDefinition(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	names := spec.EnsureObject("names")
	kind := names.String("kind")
	if names.String("singular") == "" && kind != "" {
		names["singular"] = strings.ToLower(kind)
	}
	if names.String("listKind") == "" && kind != "" {
		names["listKind"] = kind + "List"
	}
}

// prepareDefinition keeps the status, which is written through its sub-resource, but adds the version
// that objects are stored in to storedVersions.
func prepareDefinition(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
	} else {
		obj["status"] = tree.Clone(old.Object("status"))
	}
	status := obj.EnsureObject("status")
	for _, v := range obj.Object("spec").Objects("versions") {
		if name := v.String("name"); v.Bool("storage") && !slices.Contains(status.Strings("storedVersions"), name) {
			status["storedVersions"] = append(slices.Clone(status.List("storedVersions")), name)
		}
	}
}

func (c definitionValidator) validate(obj tree.Tree, faults *schema.Faults) {
	spec, metadata := obj.Object("spec"), obj.Object("metadata")
	if name := metadata.String("name"); name != spec.Object("names").String("plural")+"."+spec.String("group") {
		faults.Invalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`)
	}
	c.validateApproval(spec.String("group"), metadata.Object("annotations"), faults)
	validateDefinitionStatus(obj.Object("status"), spec, faults)
}

// validateSpec is separate from validate because it runs only if the spec changes: a definition that
// was accepted under older limits can still get a status, and lose its finalizer.
func (c definitionValidator) validateSpec(spec tree.Tree, faults *schema.Faults) {
	validateDefinitionGroup(spec.String("group"), faults)
	field.Enum(spec, "scope", "spec", faults, "Cluster", "Namespaced")
	if spec.Bool("preserveUnknownFields") {
		faults.Invalid("spec.preserveUnknownFields", true,
			"cannot set to true, set "+c.keys.Preserve+" to true in spec.versions[*].schema instead")
	}
	c.validateVersions(spec, faults)
	names := spec.Object("names")
	field.Require(names, "spec.names", faults, "plural", "singular", "kind", "listKind")
	validateDefinitionNames(names, "spec.names", faults)
	validateConversion(spec.Object("conversion"), faults)
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

// validateApproval requires the approval annotation in groups of protected domains.
func (c definitionValidator) validateApproval(group string, annotations tree.Tree, faults *schema.Faults) {
	if !slices.ContainsFunc(c.protectedDomains, func(domain string) bool { return group == domain || strings.HasSuffix(group, "."+domain) }) {
		return
	}
	path, text := tree.KeyPath("metadata.annotations", c.approvalAnnotation), annotations.String(c.approvalAnnotation)
	switch {
	case text == "":
		faults.Required(path, fmt.Sprintf("protected groups must have approval annotation %q", c.approvalAnnotation))
	case strings.HasPrefix(text, "unapproved"), strings.HasPrefix(text, "https://"):
	default:
		faults.Invalid(path, text, "protected groups must have approval annotation with either a URL or a reason starting with \"unapproved\"")
	}
}

// validateDefinitionNames checks the names in the spec, or the accepted names in the status.
func validateDefinitionNames(names tree.Tree, path string, faults *schema.Faults) {
	label := func(s, at string) {
		if messages := rules.Label1035(s); s != "" && len(messages) > 0 {
			faults.Invalid(at, s, strings.Join(messages, ","))
		}
	}
	label(names.String("plural"), path+".plural")
	label(names.String("singular"), path+".singular")
	kind, list := names.String("kind"), names.String("listKind")
	if kind != "" {
		field.KindName(kind, path+".kind", faults)
	}
	if list != "" {
		field.KindName(list, path+".listKind", faults)
	}
	for _, field := range []string{"shortNames", "categories"} {
		for i, s := range names.Strings(field) {
			label(s, tree.IndexPath(path+"."+field, i))
		}
	}
	if kind != "" && kind == list {
		faults.Invalid(path+".listKind", list, "kind and listKind may not be the same")
	}
}

// validateConversion checks the conversion strategy. Clients expect the paths of version v1beta1.
func validateConversion(conversion tree.Tree, faults *schema.Faults) {
	const path = "spec.conversion"
	hook, there := conversion["webhook"].(tree.Tree)
	config, configured := hook["clientConfig"].(tree.Tree)
	versions, before := hook.Strings("conversionReviewVersions"), len(faults.List)
	if conversion.String("strategy") != "Webhook" {
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
		webhook.ValidateCABundle(config.String("caBundle"), nil, path+".webhookClientConfig.caBundle", faults)
		webhook.ValidateClientConfig(config, path+".webhookClientConfig", faults)
	}
	webhook.ValidateReviewVersions(versions, path+".conversionReviewVersions", faults)
	if len(faults.List) == before {
		faults.Forbidden(path+".strategy", "conversion by a webhook is not supported by this server: versions may only differ in what their schemas allow (strategy None)")
	}
}

// validateDefinitionStatus checks storedVersions against the versions of the spec.
func validateDefinitionStatus(status, spec tree.Tree, faults *schema.Faults) {
	validateDefinitionNames(status.Object("acceptedNames"), "status.acceptedNames", faults)
	const path = "status.storedVersions"
	stored := status.Strings("storedVersions")
	if len(stored) == 0 {
		faults.Invalid(path, stored, "must have at least one stored version")
	}
	known := map[string]bool{}
	for _, v := range spec.Objects("versions") {
		name := v.String("name")
		known[name] = true
		if v.Bool("storage") && !slices.Contains(stored, name) {
			faults.Invalid(path, stored, "must have the storage version "+name)
		}
	}
	for i, name := range stored {
		if !known[name] {
			faults.Invalid(tree.IndexPath(path, i), name, "missing from spec.versions; "+name+" was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in "+name+" and removes "+name+" from status.storedVersions")
		}
	}
}

// validateDefinitionUpdate keeps the fields that stored objects and clients depend on.
func validateDefinitionUpdate(obj, old tree.Tree, faults *schema.Faults) {
	now, was := obj.Object("spec"), old.Object("spec")
	keep := func(now, was tree.Tree, name, path string) {
		if now.String(name) != was.String(name) {
			faults.Invalid(path+"."+name, now.String(name), "field is immutable")
		}
	}
	if condition.IsTrue(old.Object("status"), "Established") {
		keep(now, was, "scope", "spec")
		keep(now.Object("names"), was.Object("names"), "kind", "spec.names")
	}
	keep(now, was, "group", "spec")
	keep(now.Object("names"), was.Object("names"), "plural", "spec.names")
}
