package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// The finalizers that keep volumes, claims and classes of their attributes while they are in use, in platform form.
const (
	PVCProtectionFinalizer = "platform.io/pvc-protection"
	PVProtectionFinalizer  = "platform.io/pv-protection"
	VACProtectionFinalizer = "platform.io/vac-protection"
)

// StorageObjectInUseProtection gives every new claim, volume and VolumeAttributesClass the finalizer that
// keeps it while it is in use; a controller takes it off. Without it a claim that a running Pod has mounted
// could be deleted, and its data with it. It is set at creation, because a finalizer added later may come
// after the deletion.
func StorageObjectInUseProtection(naming *meta.Naming) admission.Registration {
	return admission.Registration{
		Name: "StorageObjectInUseProtection", Resources: []string{"/persistentvolumeclaims", "/persistentvolumes", "storage.platform.io/volumeattributesclasses"},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: inUseProtection{
			"persistentvolumeclaims":  naming.Translate(PVCProtectionFinalizer),
			"persistentvolumes":       naming.Translate(PVProtectionFinalizer),
			"volumeattributesclasses": naming.Translate(VACProtectionFinalizer),
		}},
	}
}

// inUseProtection are the finalizers by resource.
type inUseProtection map[string]string

// Handles implements request.Mutator.
func (inUseProtection) Handles(*request.Attributes) bool { return true }

// Admit implements request.Mutator. The list is cloned before it grows, because the one in the object may be shared.
func (p inUseProtection) Admit(a *request.Attributes) error {
	finalizer := p[a.Kind.Resource]
	metadata := a.New.EnsureObject("metadata")
	held := metadata.Strings("finalizers")
	if !slices.Contains(held, finalizer) {
		metadata["finalizers"] = append(slices.Clone(metadata.List("finalizers")), any(finalizer))
	}
	return nil
}
