package pod

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// maxAppArmorName limits a local profile name in bytes, because it is a file name.
const maxAppArmorName = 4095

// containerLists names a Pod's container lists, in warning order.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// completeAppArmor copies the AppArmor annotations of a new Pod to the fields that nodes read.
// Otherwise Pods from old manifests would run unconfined.
func (s podStrategy) completeAppArmor(pod tree.Tree) {
	s.eachAppArmor(pod, func(container, profile tree.Tree, _ string) {
		container.EnsureObject("securityContext")["appArmorProfile"] = profile
	})
}

// WarningsBeforePrepare warns about the annotations that completeAppArmor copies.
func (s podStrategy) WarningsBeforePrepare(pod tree.Tree) (texts []string) {
	s.eachAppArmor(pod, func(_, _ tree.Tree, key string) {
		texts = append(texts, tree.KeyPath("metadata.annotations", key)+`: deprecated since v1.30; use the "appArmorProfile" field instead`)
	})
	return texts
}

// eachAppArmor calls found for each container with an AppArmor annotation. It skips containers that
// already have a profile or whose Pod has the same profile. key is the annotation name.
func (s podStrategy) eachAppArmor(pod tree.Tree, found func(container, profile tree.Tree, key string)) {
	annotations, spec := pod.Annotations(), pod.Object("spec")
	if len(annotations) == 0 || spec.Object("os").String("name") == "windows" {
		return
	}
	for _, list := range containerLists {
		for _, c := range spec.Objects(list) {
			key := s.appArmor + c.String("name")
			profile := appArmorField(annotations.String(key))
			if profile == nil || c.Object("securityContext").Has("appArmorProfile") ||
				tree.SemanticEqual(profile, spec.Object("securityContext", "appArmorProfile")) {
				continue
			}
			found(c, profile, key)
		}
	}
}

// appArmorField converts the value of an AppArmor annotation to an appArmorProfile. It returns nil
// for a value that an appArmorProfile cannot represent.
func appArmorField(value string) tree.Tree {
	switch name, isLocal := strings.CutPrefix(value, "localhost/"); {
	case value == "unconfined":
		return tree.Tree{"type": "Unconfined"}
	case value == "runtime/default":
		return tree.Tree{"type": "RuntimeDefault"}
	case isLocal && name != "" && strings.TrimSpace(name) == name && len(name) <= maxAppArmorName:
		return tree.Tree{"type": "Localhost", "localhostProfile": name}
	}
	return nil
}
