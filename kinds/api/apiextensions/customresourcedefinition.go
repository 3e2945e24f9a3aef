package apiextensions

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/api/internal/webhook"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// definitionStrategy checks CRDs. Their finalizers need a domain: only older groups allow
// unqualified names.
type definitionStrategy struct {
	schema.DefaultStrategy
	keys       crd.Extensions
	compiler   *crd.Compiler
	approvals  *crd.ApprovalPolicy
	formats    crd.Formats
	lostFields lostFieldFinder
	finalizer  string
	isBuiltIn  func(group string) bool
}

type definitionValidator struct {
	*definitionStrategy
	// stored are the previous versions of the CRD, by name.
	stored map[string]tree.Tree
}

func newDefinitionStrategy(n *meta.Naming, compiler *crd.Compiler, isBuiltIn func(group string) bool) *definitionStrategy {
	return &definitionStrategy{
		keys:       crd.NewExtensions(n),
		compiler:   compiler,
		approvals:  crd.NewApprovalPolicy(n),
		formats:    crd.NewFormats(n),
		lostFields: lostFieldFinder{crd.NewExtensions(n)},
		finalizer:  n.Translate(crd.CleanupFinalizer),
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

// validateGroupNotBuiltIn rejects new CRDs in groups of built-in kinds, where a CRD could take over
// a built-in kind. Existing ones may change, so that they can be deleted. Only writes are checked:
// a server with more built-in groups can still load stored CRDs.
func (s *definitionStrategy) validateGroupNotBuiltIn(group string, faults *schema.Faults) {
	if group != "" && s.isBuiltIn(group) {
		faults.Invalid("spec.group", group, "must not be a group of built-in kinds")
	}
}

// BeginDelete sets the condition Terminating and adds the finalizer that keeps the CRD until its
// objects are deleted. The condition moves to the end and gets a new transition time.
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

// Default sets the conversion strategy None, derives absent names from the kind, and initializes
// storedVersions of an existing status. plural has no default, because English plurals follow no
// rule.
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

func addStoredVersions(status, spec tree.Tree) {
	for _, v := range spec.Objects("versions") {
		if name := v.String("name"); v.Bool("storage") && !slices.Contains(status.Strings("storedVersions"), name) {
			status["storedVersions"] = append(slices.Clone(status.List("storedVersions")), name)
		}
	}
}

// Prepare keeps the status, which its subresource writes, and adds the storage version to
// storedVersions. The migrator of the objects removes versions from storedVersions through the
// status; only then may they leave the spec.
func (*definitionStrategy) Prepare(obj, old tree.Tree) {
	// A client's status would claim that the names were accepted before they are compared with
	// other CRDs.
	if old == nil {
		obj["status"] = tree.Tree{}
	} else {
		obj["status"] = tree.Clone(old.Object("status"))
	}
	addStoredVersions(obj.EnsureObject("status"), obj.Object("spec"))
}

// validateDefinitionName requires <plural>.<group>, so that no two CRDs can claim the same path.
// Neither part can change later.
func validateDefinitionName(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if name := obj.Object("metadata").String("name"); name != "" && name != spec.Object("names").String("plural")+"."+spec.String("group") {
		faults.Invalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`)
	}
}

// Validate checks only a changed spec: a CRD accepted under older limits can still get a status and
// lose its finalizer.
func (s *definitionStrategy) Validate(obj, old tree.Tree, faults *schema.Faults) {
	validateDefinitionNames(obj.Object("status", "acceptedNames"), "status.acceptedNames", faults)
	if !obj.Shares(old, "spec") {
		s.validateSpec(obj.Object("spec"), old.Object("spec"), faults)
	}
}

// validateSpec skips versions whose schema is unchanged, since it may exceed newer limits.
func (s *definitionStrategy) validateSpec(spec, old tree.Tree, faults *schema.Faults) {
	c := definitionValidator{s, map[string]tree.Tree{}}
	for _, v := range old.Objects("versions") {
		c.stored[v.String("name")] = v
	}
	validateDefinitionGroup(spec.String("group"), faults)
	// In v1beta1 true was the default and kept unknown fields.
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

// validateDefinitionGroup requires a dot: other groups may become built-in, such as apps.
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

// validateApproval requires the approval annotation in protected groups, unless the CRD lacked it
// before.
func (s *definitionStrategy) validateApproval(obj, old tree.Tree, faults *schema.Faults) {
	approval, needed := s.approvals.Of(obj)
	if !needed || !approval.Refused() {
		return
	}
	if had, _ := s.approvals.Of(old); had.Reason == approval.Reason {
		return
	}
	path := tree.KeyPath("metadata.annotations", s.approvals.Annotation)
	if approval.Reason == crd.ApprovalMissing {
		faults.Required(path, approval.Message)
		return
	}
	faults.Invalid(path, obj.Object("metadata", "annotations").String(s.approvals.Annotation), approval.Message)
}

// validateDefinitionNames checks the names in the spec, or the accepted names in the status. Names
// are DNS labels because paths contain them; a kind may have capital letters. Callers report absent
// names, which the status may have.
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

// validateConversion checks the conversion strategy. Paths are those of v1beta1, as in
// kube-apiserver.
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

// validateCABundleUpdate checks a changed CA bundle of the conversion webhook, unless the previous
// one was invalid: installers replace placeholders.
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

// validateStoredVersions checks storedVersions against the versions of the spec. Removing a version
// that objects are stored in would make them unreadable.
//
// Writes of the status are not checked against the spec: the client is responsible for the
// migration.
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

// ValidateUpdate keeps fields that stored objects and clients depend on. Before a CRD is
// established it has no objects, so scope and kind may change. Group and plural are part of its
// name and never change.
func (*definitionStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	now, was := obj.Object("spec"), old.Object("spec")
	keep := func(now, was tree.Tree, name, path string) {
		if now.String(name) != was.String(name) {
			faults.Invalid(path+"."+name, now.String(name), "field is immutable")
		}
	}
	if tree.IsConditionTrue(old.Object("status"), "Established") {
		keep(now, was, "scope", "spec")
		keep(now.Object("names"), was.Object("names"), "kind", "spec.names")
		validateCABundleUpdate(obj, old, faults)
	}
	keep(now, was, "group", "spec")
	keep(now.Object("names"), was.Object("names"), "plural", "spec.names")
}
