package admission

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The finalizers that keep volumes and claims while they are in use, in platform form.
const (
	PVCProtectionFinalizer = "platform.io/pvc-protection"
	PVProtectionFinalizer  = "platform.io/pv-protection"
)

// StorageObjectInUseProtection gives every new claim and volume the finalizer that keeps it while it is in
// use; a controller takes it off.
func StorageObjectInUseProtection(naming *meta.Naming) Registration {
	return Registration{
		Name:      "StorageObjectInUseProtection",
		Resources: []string{"/persistentvolumeclaims", "/persistentvolumes"}, Operations: []request.Verb{request.Create},
		Plugin: inUseProtection{claim: naming.Translate(PVCProtectionFinalizer), volume: naming.Translate(PVProtectionFinalizer)},
	}
}

type inUseProtection struct{ claim, volume string }

func (p inUseProtection) Admit(a *Attributes) error {
	if !a.IsCreate() {
		return nil
	}
	finalizer := p.volume
	if a.Kind.Resource == "persistentvolumeclaims" {
		finalizer = p.claim
	}
	metadata := a.New.EnsureObject("metadata")
	held := metadata.Strings("finalizers")
	if !slices.Contains(held, finalizer) {
		metadata["finalizers"] = append(slices.Clone(metadata.List("finalizers")), any(finalizer))
	}
	return nil
}

// TaintNodesByCondition keeps Pods off a new node until it says that it is ready.
func TaintNodesByCondition(naming *meta.Naming) Registration {
	return Registration{
		Name:      "TaintNodesByCondition",
		Resources: []string{"/nodes"}, Operations: []request.Verb{request.Create},
		Plugin: nodeTaint{naming.Translate("node.platform.io/not-ready")},
	}
}

type nodeTaint struct{ key string }

func (p nodeTaint) Admit(a *Attributes) error {
	if !a.IsCreate() {
		return nil
	}
	spec := a.New.EnsureObject("spec")
	for _, t := range spec.Objects("taints") {
		if t.String("key") == p.key && t.String("effect") == "NoSchedule" {
			return nil
		}
	}
	taint := tree.Tree{"key": p.key, "effect": "NoSchedule"}
	spec["taints"] = append(slices.Clone(spec.List("taints")), any(taint))
	return nil
}
