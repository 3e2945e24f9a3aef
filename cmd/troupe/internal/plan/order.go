package plan

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// The ranks of objects, in the order in which they are applied. Policies precede the objects that
// they check. Only objects that the policies need come earlier.
const (
	definitions     = iota
	paramNamespaces // namespaces of params
	params          // params of policies
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
	var trees []tree.Tree
	for _, o := range all {
		trees = append(trees, o.Object)
	}
	isParam, hasParams := map[*object]bool{}, map[string]bool{}
	for _, r := range paramReferences(trees) {
		for _, o := range all {
			if r.APIVersion == o.APIVersion && r.Kind == o.Kind && (r.Name == "" || r.Name == o.Name) && (r.Namespace == "" || r.Namespace == o.Namespace) {
				isParam[o], hasParams[o.Namespace] = true, true
			}
		}
	}
	for _, o := range all {
		rank := others
		switch {
		case o.duplicate:
			rank = duplicates
		case o.Kind == definitionKind:
			rank = definitions
		case o.Kind == "Namespace" && hasParams[o.Name]:
			rank = paramNamespaces
		case isParam[o]:
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

// paramReferences returns the params that policy bindings select, given all policies and bindings.
// An empty namespace or name selects all.
func paramReferences(all []tree.Tree) (params []reference) {
	for _, binding := range all {
		spec := binding.Object("spec")
		ref := spec.Object("paramRef")
		for _, p := range all {
			kind := p.Object("spec", "paramKind")
			if ref != nil && kind != nil && p.Name() == spec.String("policyName") && p.String("kind")+"Binding" == binding.String("kind") {
				params = append(params, reference{kind.String("apiVersion"), kind.String("kind"), ref.String("namespace"), ref.String("name")})
			}
		}
	}
	return params
}
