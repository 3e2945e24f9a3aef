package operations

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ReadEviction decodes an Eviction of the Pod with the given key from a request body. Errors are
// *meta.Status.
func ReadEviction(key meta.Key, body tree.Tree, n *meta.Naming) (v Eviction, err error) {
	options := body.Object("deleteOptions")
	v.Key = key
	if seconds, ok := options.Int("gracePeriodSeconds"); ok {
		v.Delete.GracePeriodSeconds = &seconds
	}
	preconditions := options.Object("preconditions")
	if uid, ok := preconditions["uid"].(string); ok {
		v.Delete.UID = &uid
	}
	if version, ok := preconditions["resourceVersion"].(string); ok {
		v.Delete.ResourceVersion = &version
	}
	var faults schema.Faults
	v.Delete.PropagationPolicy = propagationPolicy(options, &faults)
	for i, stage := range options.Strings("dryRun") {
		v.DryRun = true
		if stage != "All" {
			faults.NotSupported(tree.IndexPath("dryRun", i), stage, []string{"All"})
		}
	}
	if len(faults.List) > 0 {
		return v, meta.NewInvalid(meta.GroupKind{Group: n.Group("meta"), Kind: "DeleteOptions"}, "", faults.List)
	}
	return v, nil
}

// propagationPolicy returns the propagation policy, with support for the deprecated
// orphanDependents option.
func propagationPolicy(options tree.Tree, faults *schema.Faults) string {
	policy := options.String("propagationPolicy")
	orphan, old := options["orphanDependents"].(bool)
	switch {
	case old && policy != "":
		faults.Invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
	case old && orphan:
		return "Orphan"
	case old:
		return "Background"
	case policy != "" && policy != "Foreground" && policy != "Background" && policy != "Orphan":
		faults.NotSupported("propagationPolicy", policy, []string{"Foreground", "Background", "Orphan", "nil"})
	}
	return policy
}
