package pod

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// containerLists are the lists of containers, in the order of faults and warnings.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// checks are the annotations that validation reads, in the names of a profile.
type checks struct {
	profiles profileAnnotations
	marks    markAnnotations
}

func newChecks(n *meta.Naming) *checks {
	return &checks{newProfileAnnotations(n), newMarkAnnotations(n)}
}

// profileAnnotations are the former annotations for security profiles. Those of containers are
// prefixes of the container's name. Nodes read only the fields, so a Pod with only seccomp
// annotations runs without the intended profile.
type profileAnnotations struct{ seccompPod, seccompContainer, appArmor string }

func newProfileAnnotations(n *meta.Naming) profileAnnotations {
	return profileAnnotations{
		seccompPod:       n.Translate("seccomp.security.alpha.platform.io/pod"),
		seccompContainer: n.Translate("container.seccomp.security.alpha.platform.io/"),
		appArmor:         n.Translate("container.apparmor.security.beta.platform.io/"),
	}
}

// markAnnotations are annotations of Pods: mirror marks the mirror of a static Pod, and
// deletionCost orders the Pods of a set for deletion.
type markAnnotations struct{ mirror, deletionCost string }

func newMarkAnnotations(n *meta.Naming) markAnnotations {
	return markAnnotations{mirror: n.Translate("platform.io/config.mirror"), deletionCost: n.Translate("controller.platform.io/pod-deletion-cost")}
}

// validateAnnotations checks the annotations of a new Pod or template at path, which is empty or
// ends in a dot. Faults are reported at annotationsPath.
func (w *checks) validateAnnotations(pod tree.Tree, path, annotationsPath string, faults *schema.Faults) {
	annotations := pod.Object("metadata", "annotations")
	if len(annotations) == 0 {
		return
	}
	if value, ok := annotations[w.marks.mirror].(string); ok && pod.Object("spec").String("nodeName") == "" {
		faults.Invalid(tree.KeyPath(annotationsPath, w.marks.mirror), value, "must set spec.nodeName if mirror pod annotation is set")
	}
	w.marks.validateDeletionCost(annotations, annotationsPath, faults)
	w.profiles.validateSeccomp(annotations, annotationsPath, faults)
	w.profiles.validateAppArmor(pod, path, annotationsPath, faults)
}

// validateDeletionCost requires a number without plus sign and leading zeros.
func (m markAnnotations) validateDeletionCost(annotations tree.Tree, path string, faults *schema.Faults) {
	value, ok := annotations[m.deletionCost].(string)
	if !ok {
		return
	}
	_, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") && value != "0" {
		faults.Invalid(tree.KeyPath(path, m.deletionCost), value, "must be a 32bit integer")
	}
}

// validateSeccomp checks the profile names in annotations.
func (p profileAnnotations) validateSeccomp(annotations tree.Tree, path string, faults *schema.Faults) {
	for _, key := range annotations.SortedKeys() {
		if key != p.seccompPod && !strings.HasPrefix(key, p.seccompContainer) {
			continue
		}
		value := annotations.String(key)
		local, isLocal := strings.CutPrefix(value, "localhost/")
		switch {
		case value == "runtime/default" || value == "docker/default" || value == "unconfined":
		case !isLocal:
			faults.Invalid(path+"."+key, value, "must be a valid seccomp profile")
		default:
			for _, msg := range rules.RelativePath(local) {
				faults.Invalid(path+"."+key, local, msg)
			}
		}
	}
}

// validateAnnotationsUpdate keeps annotations about the origin and security profiles of a Pod. The
// deletion cost may change; an invalid one may stay.
func (w *checks) validateAnnotationsUpdate(obj, old tree.Tree, faults *schema.Faults) {
	const path = "metadata.annotations"
	now, was := obj.Object("metadata", "annotations"), old.Object("metadata", "annotations")
	if tree.SameRef(now, was) {
		return
	}
	var before schema.Faults
	if w.marks.validateDeletionCost(was, path, &before); len(before.List) == 0 {
		w.marks.validateDeletionCost(now, path, faults)
	}
	switch key := w.marks.mirror; {
	case was.Has(key) && now[key] != was[key]:
		faults.Forbidden(tree.KeyPath(path, key), "may not remove or update mirror pod annotation")
	case now.Has(key) && !was.Has(key):
		faults.Forbidden(tree.KeyPath(path, key), "may not add mirror pod annotation")
	}
	w.profiles.validateSeccomp(now, path, faults)
	w.profiles.validateAppArmorUpdate(now, was, faults)
}
