package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// Finalizers that protect storage objects in use, in the platform naming profile.
const (
	PVCProtectionFinalizer = "platform.io/pvc-protection"
	PVProtectionFinalizer  = "platform.io/pv-protection"
	VACProtectionFinalizer = "platform.io/vac-protection"
)

// StorageObjectInUseProtection returns the plugin that adds the protection finalizer to new claims,
// volumes and VolumeAttributesClasses. A controller removes the finalizer when the object is
// unused, but cannot add it, because the object might be deleted first.
func StorageObjectInUseProtection(naming *meta.Naming) admission.Registration {
	return admission.Register("StorageObjectInUseProtection", inUseProtection{
		"persistentvolumeclaims":  naming.Translate(PVCProtectionFinalizer),
		"persistentvolumes":       naming.Translate(PVProtectionFinalizer),
		"volumeattributesclasses": naming.Translate(VACProtectionFinalizer),
	})
}

type inUseProtection map[string]string

func (inUseProtection) Handles(*request.Attributes) bool { return true }

// Admit clones the finalizers before appending, because the slice may be shared.
func (p inUseProtection) Admit(a *request.Attributes) error {
	finalizer := p[a.Kind.Resource]
	metadata := a.New.EnsureObject("metadata")
	held := metadata.Strings("finalizers")
	if !slices.Contains(held, finalizer) {
		metadata["finalizers"] = append(slices.Clone(metadata.List("finalizers")), any(finalizer))
	}
	return nil
}
