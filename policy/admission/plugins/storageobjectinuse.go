package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// The finalizers that protect storage objects in use, in platform form.
const (
	PVCProtectionFinalizer = "platform.io/pvc-protection"
	PVProtectionFinalizer  = "platform.io/pv-protection"
	VACProtectionFinalizer = "platform.io/vac-protection"
)

// StorageObjectInUseProtection returns the registration of the plugin that adds the protection
// finalizer to new claims, volumes and VolumeAttributesClasses. A controller removes it when the
// object is unused. It must be set at creation, because one added later may come after the
// deletion.
func StorageObjectInUseProtection(naming *meta.Naming) admission.Registration {
	return admission.Register("StorageObjectInUseProtection", inUseProtection{
		"persistentvolumeclaims":  naming.Translate(PVCProtectionFinalizer),
		"persistentvolumes":       naming.Translate(PVProtectionFinalizer),
		"volumeattributesclasses": naming.Translate(VACProtectionFinalizer),
	})
}

// inUseProtection maps resources to finalizers.
type inUseProtection map[string]string

func (inUseProtection) Handles(*request.Attributes) bool { return true }

// Admit clones the list before appending, because the object may share it.
func (p inUseProtection) Admit(a *request.Attributes) error {
	finalizer := p[a.Kind.Resource]
	metadata := a.New.EnsureObject("metadata")
	held := metadata.Strings("finalizers")
	if !slices.Contains(held, finalizer) {
		metadata["finalizers"] = append(slices.Clone(metadata.List("finalizers")), any(finalizer))
	}
	return nil
}
