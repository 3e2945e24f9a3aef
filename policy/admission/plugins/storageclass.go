package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultStorageClass gives a new claim that names no class the default one. A claim with the class ""
// wants no class, and is bound to a volume without one; so empty is not absent here.
func DefaultStorageClass(naming *meta.Naming, classes *policy.Cache[Class]) admission.Registration {
	return admission.Registration{
		Name: "DefaultStorageClass", Resources: []string{"/persistentvolumeclaims"}, Caches: []policy.Follower{classes},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: defaultStorageClass{newClaimClassReader(naming), classes}},
	}
}

// defaultStorageClass reads the classes from the cache that PersistentVolumeClaimResize uses, too.
type defaultStorageClass struct {
	claimClassReader
	classes *policy.Cache[Class]
}

// Handles implements request.Mutator.
func (p defaultStorageClass) Handles(a *request.Attributes) bool {
	_, given := p.classOf(a.New)
	return !given
}

// Admit implements request.Mutator. Without a default class the claim stays without one.
func (p defaultStorageClass) Admit(a *request.Attributes) error {
	if name := defaultClass(p.classes); name != "" {
		a.New.EnsureObject("spec")["storageClassName"] = name
	}
	return nil
}

// claimClassReader finds the class of a claim, which an annotation may name.
type claimClassReader struct{ annotation string }

// newClaimClassReader reads the annotation under its name in the naming profile.
func newClaimClassReader(naming *meta.Naming) claimClassReader {
	return claimClassReader{naming.Translate("volume.beta.platform.io/storage-class")}
}

// classOf is the class that a claim names, possibly ""; given is false if it names none. The annotation
// wins over the field, as controllers read it.
func (r claimClassReader) classOf(claim tree.Tree) (name string, given bool) {
	if annotated, ok := claim.Object("metadata", "annotations")[r.annotation].(string); ok {
		return annotated, true
	}
	name, given = claim.Object("spec")["storageClassName"].(string)
	return name, given
}
