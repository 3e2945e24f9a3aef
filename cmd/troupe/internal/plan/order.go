package plan

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// The ranks of objects in the order in which they are applied. Policies precede all objects that
// they do not need, so that they check them.
const (
	definitions     = iota
	paramNamespaces // of params
	params          // of policies
	policies
	namespaces
	defaults // objects that complete others, such as classes
	others
	duplicates
	rankCount
)

const definitionKind = "CustomResourceDefinition"

var (
	policyKinds = []string{
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
	}
	defaultKinds = []string{
		"LimitRange", "PriorityClass", "StorageClass", "RuntimeClass", "IngressClass", "DeviceClass", "VolumeAttributesClass", "ServiceAccount",
	}
)

// rankAll returns the objects of each rank in the order of the input.
func rankAll(all []*object) (ranks [rankCount][]*object) {
	var references []paramReference
	var trees []tree.Tree
	for _, o := range all {
		trees = append(trees, o.Object)
	}
	for _, t := range trees {
		references = append(references, paramReferences(t, trees)...)
	}
	isParam := func(o *object) bool {
		return slices.ContainsFunc(references, func(r paramReference) bool { return r.matches(o) })
	}
	inNamespace := map[string]bool{}
	for _, o := range all {
		if isParam(o) {
			inNamespace[o.Namespace] = true
		}
	}
	for _, o := range all {
		rank := others
		switch {
		case o.duplicate:
			rank = duplicates
		case o.Kind == definitionKind:
			rank = definitions
		case o.Kind == "Namespace" && inNamespace[o.Name]:
			rank = paramNamespaces
		case isParam(o):
			rank = params
		case slices.Contains(policyKinds, o.Kind):
			rank = policies
		case o.Kind == "Namespace":
			rank = namespaces
		case slices.Contains(defaultKinds, o.Kind):
			rank = defaults
		}
		ranks[rank] = append(ranks[rank], o)
	}
	return ranks
}

// A paramReference selects params of a policy.
type paramReference struct {
	apiVersion, kind, namespace, name string // namespace and name may be "" for any
}

func (r paramReference) matches(o *object) bool {
	return r.apiVersion == o.APIVersion && r.kind == o.Kind && (r.name == "" || r.name == o.Name) &&
		(r.namespace == "" || r.namespace == o.Namespace)
}

// paramReferences returns the params that a policy binding selects, given the policies.
func paramReferences(binding tree.Tree, policies []tree.Tree) (all []paramReference) {
	spec := binding.Object("spec")
	ref := spec.Object("paramRef")
	if ref == nil {
		return nil
	}
	for _, p := range policies {
		kind := p.Object("spec", "paramKind")
		if p.Name() == spec.String("policyName") && p.String("kind")+"Binding" == binding.String("kind") && kind != nil {
			all = append(all, paramReference{kind.String("apiVersion"), kind.String("kind"), ref.String("namespace"), ref.String("name")})
		}
	}
	return all
}
