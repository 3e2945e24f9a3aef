package quota

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The names under which claims of volumes count, also with a class before them.
const (
	claimCount     = "persistentvolumeclaims"
	requestStorage = "requests.storage"
)

// volumeClaims knows the names of a profile.
type volumeClaims struct {
	classInfix      string // between a storage class and what is limited of it
	classAnnotation string // names the class in old claims
}

// claimEvaluator counts claims of volumes and the storage that they request, in all and by storage class.
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

// While a volume grows, both sizes may be in use, so the larger one counts.
func (v volumeClaims) usage(claim tree.Tree) amounts {
	var all amounts
	class := v.class(claim)
	if class != "" {
		all.set(class+v.classInfix+claimCount, one)
	}
	requested, ok := claim.Object("spec", "resources", "requests")["storage"].(string)
	if !ok {
		return all
	}
	// Quantities of storage are limited in whole bytes.
	storage := amount.Read(requested).RoundUp()
	if allocated, ok := claim.Object("status", "allocatedResources")["storage"].(string); ok {
		storage = storage.Max(amount.Read(allocated).RoundUp())
	}
	all.set(requestStorage, storage)
	if class != "" {
		all.set(class+v.classInfix+requestStorage, storage)
	}
	return all
}

func (v volumeClaims) class(claim tree.Tree) string {
	if class, ok := claim.Object("metadata", "annotations")[v.classAnnotation].(string); ok {
		return class
	}
	return claim.Object("spec").String("storageClassName")
}

// attributesClasses are the classes of attributes that a claim has, asks for or is on its way to. During a
// change of class the claim may be charged by either, so it counts for all of them.
func attributesClasses(claim tree.Tree) []string {
	status := claim.Object("status")
	return nonEmpty(claim.Object("spec").String("volumeAttributesClassName"), status.String("currentVolumeAttributesClassName"),
		status.Object("modifyVolumeStatus").String("targetVolumeAttributesClassName"))
}
