package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// DefaultStorageClass returns the plugin that sets the default class on new claims without one. It
// does not change a claim with class "", which requests volumes without a class.
func DefaultStorageClass(naming *meta.Naming, classes *policy.Cache[Class]) admission.Registration {
	return admission.Register("DefaultStorageClass", defaultStorageClass{newClaimClassReader(naming), classes}, classes)
}

type defaultStorageClass struct {
	claimClassReader
	classes *policy.Cache[Class]
}

func (p defaultStorageClass) Handles(a *request.Attributes) bool {
	_, given := p.classOf(a.New)
	return !given
}

func (p defaultStorageClass) Admit(a *request.Attributes) error {
	if name := defaultClass(p.classes); name != "" {
		a.New.EnsureObject("spec")["storageClassName"] = name
	}
	return nil
}

type claimClassReader struct{ annotation string }

func newClaimClassReader(naming *meta.Naming) claimClassReader {
	return claimClassReader{naming.Translate("volume.beta.platform.io/storage-class")}
}

// classOf returns a claim's class. given reports whether the class is set, even to "". As in
// controllers, the annotation overrides the field.
func (r claimClassReader) classOf(claim tree.Tree) (name string, given bool) {
	if annotated, ok := claim.Annotations()[r.annotation].(string); ok {
		return annotated, true
	}
	name, given = claim.Object("spec")["storageClassName"].(string)
	return name, given
}
