package apiextensions

import (
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

// definitionStrategy checks definitions, with the names that a profile uses in them. Finalizers
// need no domain: that rule is one of the older groups only.
type definitionStrategy struct {
	schema.DefaultStrategy
	keys       custom.Extensions
	compiler   *custom.Compiler
	approvals  *custom.ApprovalPolicy
	formats    custom.Formats
	lostFields lostFieldFinder
	finalizer  string
	isBuiltIn  func(group string) bool
}

// A definitionValidator checks one definition.
type definitionValidator struct {
	*definitionStrategy
	// stored are the versions that the definition had before, by name.
	stored map[string]tree.Tree
}

func newDefinitionStrategy(n *meta.Naming, compiler *custom.Compiler, isBuiltIn func(group string) bool) *definitionStrategy {
	return &definitionStrategy{
		keys:       custom.NewExtensions(n),
		compiler:   compiler,
		approvals:  custom.NewApprovalPolicy(n),
		formats:    custom.NewFormats(n),
		lostFields: lostFieldFinder{custom.NewExtensions(n)},
		finalizer:  n.Translate(custom.CleanupFinalizer),
		isBuiltIn:  isBuiltIn,
	}
}

func (*definitionStrategy) AllowsUnqualifiedFinalizers() bool { return true }

func (s *definitionStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	if old == nil {
		validateDefinitionName(obj, faults)
		s.validateGroupNotBuiltIn(obj.Object("spec").String("group"), faults)
	}
	s.validateApproval(obj, old, faults)
	if old == nil || !tree.SemanticEqual(obj["spec"], old["spec"]) {
		validateStoredVersions(obj.Object("status"), obj.Object("spec"), faults)
	}
}

// validateGroupNotBuiltIn keeps new definitions out of the groups of built-in kinds. One that is in such a
// group already may change, so that it can be deleted. Two sources of one group would need a rule of
// precedence for each path, and a definition could take over a built-in kind. It is a rule of writes only,
// so that a server which serves more groups than its predecessor can still load what is stored.
func (s *definitionStrategy) validateGroupNotBuiltIn(group string, faults *schema.Faults) {
	if group != "" && s.isBuiltIn(group) {
		faults.Invalid("spec.group", group, "must not be a group of built-in kinds")
	}
}

// BeginDelete marks a definition whose objects are about to be deleted, and adds the finalizer that
// keeps it until they are gone. The other conditions stay as they are; this one moves to the end
// with a new transition time, since a deletion begins only once.
func (s *definitionStrategy) BeginDelete(obj tree.Tree, now string) {
	metadata := obj.EnsureObject("metadata")
	if held := metadata.List("finalizers"); !slices.Contains(held, any(s.finalizer)) {
		metadata["finalizers"] = append(slices.Clone(held), s.finalizer)
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

// Default fills in that nothing is converted, unless the definition speaks of conversion. It
// derives the names that are left out from the kind, and from the versions which of them is stored,
// if the status says nothing of that. plural has no default, as the plurals of English words follow
// no rule.
func (*definitionStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	names := spec.EnsureObject("names")
	kind := names.String("kind")
	if names.String("singular") == "" && kind != "" {
		names["singular"] = strings.ToLower(kind)
	}
	if names.String("listKind") == "" && kind != "" {
		names["listKind"] = kind + "List"
	}
	if spec["conversion"] == nil {
		spec["conversion"] = tree.Tree{"strategy": "None"}
	}
	if status, ok := obj["status"].(tree.Tree); ok && len(status.List("storedVersions")) == 0 {
		addStoredVersions(status, spec)
	}
}

// addStoredVersions adds the version that objects are stored in to storedVersions.
func addStoredVersions(status, spec tree.Tree) {
	for _, v := range spec.Objects("versions") {
		if name := v.String("name"); v.Bool("storage") && !slices.Contains(status.Strings("storedVersions"), name) {
			status["storedVersions"] = append(slices.Clone(status.List("storedVersions")), name)
		}
	}
}

// Prepare keeps the status, which is written through its sub-resource, but adds the version that
// objects are stored in to storedVersions. storedVersions only grows here. Who has rewritten all
// objects removes a version through the status, and only after that may it leave the spec.
func (*definitionStrategy) Prepare(obj, old tree.Tree) {
	// A status that comes with a create would claim that names are accepted before they were compared with
	// those of other definitions.
	if old == nil {
		obj["status"] = tree.Tree{}
	} else {
		obj["status"] = tree.Clone(old.Object("status"))
	}
	addStoredVersions(obj.EnsureObject("status"), obj.Object("spec"))
}

// validateDefinitionName derives the name of a new definition from the spec, so that no two definitions can claim the same
// path. Later neither changes.
func validateDefinitionName(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if name := obj.Object("metadata").String("name"); name != "" && name != spec.Object("names").String("plural")+"."+spec.String("group") {
		faults.Invalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`)
	}
}

// Validate checks a spec that changes only: a definition that was accepted under older limits can
// still get a status, and lose its finalizer.
func (s *definitionStrategy) Validate(obj, old tree.Tree, faults *schema.Faults) {
	validateDefinitionNames(obj.Object("status", "acceptedNames"), "status.acceptedNames", faults)
	if !obj.Shares(old, "spec") {
		s.validateSpec(obj.Object("spec"), old.Object("spec"), faults)
	}
}

// A version whose schema stays is not looked at again, for the same reason: a limit may have come since.
func (s *definitionStrategy) validateSpec(spec, old tree.Tree, faults *schema.Faults) {
	c := definitionValidator{s, map[string]tree.Tree{}}
	for _, v := range old.Objects("versions") {
		c.stored[v.String("name")] = v
	}
	validateDefinitionGroup(spec.String("group"), faults)
	// In v1beta1 true was the default, which kept whatever a client sent. It is refused with the place
	// where the same can be had for a part of a schema.
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

// A group without a dot could later be that of a built-in kind, such as apps.
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

// validateApproval requires the approval annotation in groups of protected domains. A definition that lacked it may
// go on without.
func (s *definitionStrategy) validateApproval(obj, old tree.Tree, faults *schema.Faults) {
	approval, needed := s.approvals.Of(obj)
	if !needed || !approval.Refused() {
		return
	}
	if had, _ := s.approvals.Of(old); had.Reason == approval.Reason {
		return
	}
	path := tree.KeyPath("metadata.annotations", s.approvals.Annotation)
	if approval.Reason == custom.ApprovalMissing {
		faults.Required(path, approval.Message)
		return
	}
	faults.Invalid(path, obj.Object("metadata", "annotations").String(s.approvals.Annotation), approval.Message)
}

// validateDefinitionNames checks the names in the spec, or the accepted names in the status. A name is part
// of paths and of what users type, hence the rules of DNS labels; a kind may have capital letters. Absent
// names are reported by the caller: the status has none until they are accepted.
func validateDefinitionNames(names tree.Tree, path string, faults *schema.Faults) {
	label := func(s, at string) {
		if messages := rules.Label1035(s); len(messages) > 0 {
			faults.Invalid(at, s, strings.Join(messages, ","))
		}
	}
	for _, name := range []string{"plural", "singular"} {
		if s := names.String(name); s != "" {
			label(s, path+"."+name)
		}
	}
	kind, list := names.String("kind"), names.String("listKind")
	if list != "" {
		for _, msg := range rules.KindName(list) {
			faults.Invalid(path+".listKind", list, msg)
		}
	}
	for _, name := range []string{"shortNames", "categories"} {
		for i, s := range names.Strings(name) {
			label(s, tree.IndexPath(path+"."+name, i))
		}
	}
	if kind != "" && kind == list {
		faults.Invalid(path+".listKind", list, "kind and listKind may not be the same")
	}
}

// validateConversion checks the conversion strategy. Clients expect the paths of version v1beta1. The
// structure is checked before the strategy is refused, so that a client learns of all faults that it could
// repair on its own.
func validateConversion(conversion tree.Tree, faults *schema.Faults) {
	const path = "spec.conversion"
	hook, there := conversion["webhook"].(tree.Tree)
	config, configured := hook["clientConfig"].(tree.Tree)
	versions := hook.Strings("conversionReviewVersions")
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
		webhook.ValidateClientConfig(config, path+".webhookClientConfig", faults)
	}
	if len(versions) == 0 {
		faults.Required(path + ".conversionReviewVersions")
		return
	}
	webhook.ValidateReviewVersions(versions, path+".conversionReviewVersions", faults)
}

// validateCABundleUpdate checks the CA bundle of the conversion webhook of a definition that is established. Before that
// anything may be there: a placeholder, which an installer replaces by what it has generated.
func validateCABundleUpdate(obj, old tree.Tree, faults *schema.Faults) {
	bundle := func(t tree.Tree) string {
		return t.Object("spec", "conversion", "webhook", "clientConfig").String("caBundle")
	}
	var before schema.Faults
	webhook.ValidateCABundle(bundle(old), nil, "", &before)
	if obj.Object("spec", "conversion").String("strategy") == "Webhook" && len(before.List) == 0 {
		webhook.ValidateCABundle(bundle(obj), nil, "spec.conversion.webhookClientConfig.caBundle", faults)
	}
}

// validateStoredVersions checks storedVersions against the versions of the spec. A version that leaves
// the spec while objects are stored in it would make these unreadable.
//
// What is written to the status is not held against the spec: who has migrated the objects says so there, and answers for it.
func validateStoredVersions(status, spec tree.Tree, faults *schema.Faults) {
	const path = "status.storedVersions"
	stored := status.Strings("storedVersions")
	if len(stored) == 0 {
		faults.Invalid(path, nil, "must have at least one stored version")
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

// ValidateUpdate keeps the fields that stored objects and clients depend on. Until a definition is
// established nothing can be stored under it, so a mistyped scope or kind may be corrected. Group
// and plural are in its name and never change.
func (*definitionStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	now, was := obj.Object("spec"), old.Object("spec")
	keep := func(now, was tree.Tree, name, path string) {
		if now.String(name) != was.String(name) {
			faults.Invalid(path+"."+name, now.String(name), "field is immutable")
		}
	}
	if condition.IsTrue(old.Object("status"), "Established") {
		keep(now, was, "scope", "spec")
		keep(now.Object("names"), was.Object("names"), "kind", "spec.names")
		validateCABundleUpdate(obj, old, faults)
	}
	keep(now, was, "group", "spec")
	keep(now.Object("names"), was.Object("names"), "plural", "spec.names")
}
