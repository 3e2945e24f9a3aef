package admission

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The finalizers of what must not go while it is in use, in platform form.
const (
	ClaimProtection  = "platform.io/pvc-protection"
	VolumeProtection = "platform.io/pv-protection"
)

// InUseProtection gives every new claim and volume the finalizer that keeps it while it is in
// use; a controller takes it off.
func InUseProtection(naming *meta.Naming) Registration {
	return Registration{
		Name:      "StorageObjectInUseProtection",
		Resources: []string{"/persistentvolumeclaims", "/persistentvolumes"},
		Plugin:    inUse{claim: naming.Name(ClaimProtection), volume: naming.Name(VolumeProtection)},
	}
}

type inUse struct{ claim, volume string }

func (p inUse) Admit(a *Attempt) error {
	if !a.Creates() {
		return nil
	}
	finalizer := p.volume
	if a.Kind.Resource == "persistentvolumeclaims" {
		finalizer = p.claim
	}
	metadata := rules.Grow(a.New, "metadata")
	held := rules.Texts(metadata, "finalizers")
	if !slices.Contains(held, finalizer) {
		metadata["finalizers"] = append(slices.Clone(rules.Items(metadata, "finalizers")), any(finalizer))
	}
	return nil
}

// NewNodeTaint keeps Pods off a new node until it says that it is ready.
func NewNodeTaint(naming *meta.Naming) Registration {
	return Registration{
		Name:      "TaintNodesByCondition",
		Resources: []string{"/nodes"},
		Plugin:    nodeTaint{naming.Name("node.platform.io/not-ready")},
	}
}

type nodeTaint struct{ key string }

func (p nodeTaint) Admit(a *Attempt) error {
	if !a.Creates() {
		return nil
	}
	spec := rules.Grow(a.New, "spec")
	for _, t := range rules.Trees(spec, "taints") {
		if rules.Text(t, "key") == p.key && rules.Text(t, "effect") == "NoSchedule" {
			return nil
		}
	}
	taint := schema.Tree{"key": p.key, "effect": "NoSchedule"}
	spec["taints"] = append(slices.Clone(rules.Items(spec, "taints")), any(taint))
	return nil
}
