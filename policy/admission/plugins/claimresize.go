package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// PersistentVolumeClaimResize returns the plugin that lets a claim grow only if it is bound and its
// class allows expansion. Other claims would wait for a resize forever. Validation already rejects
// shrinking.
func PersistentVolumeClaimResize(naming *meta.Naming, classes *policy.Cache[Class]) admission.Registration {
	return admission.Register("PersistentVolumeClaimResize", claimResize{claimClassReader: newClaimClassReader(naming), classes: classes}, classes)
}

type claimResize struct {
	request.HandlesAll
	claimClassReader
	classes *policy.Cache[Class]
}

func (p claimResize) Validate(a *request.Attributes) error {
	was, wanted := claimSize(a.Old), claimSize(a.New)
	if was == wanted || quantity.Compare(wanted, was) <= 0 {
		return nil
	}
	if a.Old.Object("status").String("phase") != "Bound" {
		return a.Forbidden("Only bound persistent volume claims can be expanded")
	}
	before, _ := p.classOf(a.Old)
	name, _ := p.classOf(a.New)
	// Get returns the zero Class for a deleted class, so expansion is not allowed.
	if class, _ := p.classes.Get("", name); name != before || !class.AllowsExpansion {
		return a.Forbidden("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

func claimSize(claim tree.Tree) string {
	return claim.Object("spec", "resources", "requests").String("storage")
}
