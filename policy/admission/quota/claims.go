package quota

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Quota names for claims, optionally prefixed with a storage class.
const (
	claimCount     = "persistentvolumeclaims"
	requestStorage = "requests.storage"
)

type volumeClaims struct {
	classInfix      string // separates a storage class from the limited name
	classAnnotation string // key of the legacy class annotation
}

func claimEvaluator(naming *meta.Naming) *evaluator {
	v := volumeClaims{
		classInfix:      ".storageclass." + naming.Group("storage") + "/",
		classAnnotation: naming.Translate("volume.beta.platform.io/storage-class"),
	}
	return &evaluator{
		counts: []string{"count/persistentvolumeclaims", claimCount},
		limits: func(name string) bool {
			return name == requestStorage || strings.HasSuffix(name, v.classInfix+claimCount) || strings.HasSuffix(name, v.classInfix+requestStorage)
		},
		usage: v.usage,
		inScope: func(r requirement, claim tree.Tree) bool {
			return r.scope == "VolumeAttributesClass" && r.matchesAny(attributesClasses(claim))
		},
		checks: func(subresource string, _, _ tree.Tree) bool { return subresource == "" },
	}
}

// usage returns the usage of a claim. While the claim is being expanded, the larger of the old and
// new sizes counts, because either may be in use.
func (v volumeClaims) usage(claim tree.Tree) amount.List {
	var all amount.List
	class := v.class(claim)
	if class != "" {
		all.Set(class+v.classInfix+claimCount, one)
	}
	requested, ok := claim.Object("spec", "resources", "requests")["storage"].(string)
	if !ok {
		return all
	}
	// Round up, because storage limits are in whole bytes.
	storage := amount.Read(requested).RoundUp()
	if allocated, ok := claim.Object("status", "allocatedResources")["storage"].(string); ok {
		storage = storage.Max(amount.Read(allocated).RoundUp())
	}
	all.Set(requestStorage, storage)
	if class != "" {
		all.Set(class+v.classInfix+requestStorage, storage)
	}
	return all
}

func (v volumeClaims) class(claim tree.Tree) string {
	if class, ok := claim.Annotations()[v.classAnnotation].(string); ok {
		return class
	}
	return claim.Object("spec").String("storageClassName")
}

// attributesClasses returns a claim's current, desired and target classes. All of them count while
// the class changes, because any may be charged.
func attributesClasses(claim tree.Tree) []string {
	status := claim.Object("status")
	return nonEmpty(claim.Object("spec").String("volumeAttributesClassName"), status.String("currentVolumeAttributesClassName"),
		status.Object("modifyVolumeStatus").String("targetVolumeAttributesClassName"))
}
