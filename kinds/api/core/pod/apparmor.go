package pod

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxAppArmorName bounds the name of a local profile, which is a file name.
const maxAppArmorName = 4095

// completeAppArmor copies the AppArmor annotations of a new Pod into the fields that nodes read.
// Otherwise Pods from old manifests would run unconfined.
func (p profileAnnotations) completeAppArmor(pod tree.Tree) {
	p.eachAppArmor(pod, func(container, profile tree.Tree, _ string) {
		container.EnsureObject("securityContext")["appArmorProfile"] = profile
	})
}

// WarningsBeforePrepare warns about the annotations that completeAppArmor copies.
func (s podStrategy) WarningsBeforePrepare(pod tree.Tree) (texts []string) {
	s.profiles.eachAppArmor(pod, func(_, _ tree.Tree, key string) {
		texts = append(texts, tree.KeyPath("metadata.annotations", key)+`: deprecated since v1.30; use the "appArmorProfile" field instead`)
	})
	return texts
}

// eachAppArmor calls found for containers whose annotation, key, goes beyond their fields and the
// Pod's profile.
func (p profileAnnotations) eachAppArmor(pod tree.Tree, found func(container, profile tree.Tree, key string)) {
	annotations, spec := pod.Object("metadata", "annotations"), pod.Object("spec")
	if len(annotations) == 0 || spec.Object("os").String("name") == "windows" {
		return
	}
	for _, list := range containerLists {
		for _, c := range spec.Objects(list) {
			key := p.appArmor + c.String("name")
			profile := appArmorField(annotations.String(key))
			if profile == nil || c.Object("securityContext").Has("appArmorProfile") ||
				tree.SemanticEqual(profile, spec.Object("securityContext", "appArmorProfile")) {
				continue
			}
			found(c, profile, key)
		}
	}
}

// appArmorField returns the profile of an annotation as a field; nil if the field cannot represent
// it.
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

// validateAppArmor checks that the AppArmor annotations of a new Pod name its containers, are
// valid, and agree with the fields: nodes of different versions read either, and must run the same
// profile.
//
// pod is a Pod or a template at path, which is empty or ends in a dot. Faults are reported at
// annotationsPath.
func (p profileAnnotations) validateAppArmor(pod tree.Tree, path, annotationsPath string, faults *schema.Faults) {
	annotations, spec := pod.Object("metadata", "annotations"), pod.Object("spec")
	names := map[string]bool{}
	windows := spec.Object("os").String("name") == "windows"
	for _, list := range containerLists {
		for i, c := range spec.Objects(list) {
			names[c.String("name")] = true
			value, given := annotations[p.appArmor+c.String("name")].(string)
			if profile := effectiveAppArmor(spec, c); given && profile != nil && !windows {
				validateAppArmorMatch(value, profile, tree.IndexPath(path+"spec."+list, i)+".securityContext.appArmorProfile", faults)
			}
		}
	}
	for _, key := range annotations.SortedKeys() {
		name, ok := strings.CutPrefix(key, p.appArmor)
		if !ok {
			continue
		}
		at := tree.KeyPath(annotationsPath, key)
		if !names[name] {
			faults.Invalid(at, name, "container not found")
		}
		if value := annotations.String(key); !isAppArmorValue(value) {
			faults.Invalid(at, value, fmt.Sprintf("invalid AppArmor profile name: %q", value))
		}
	}
}

// isAppArmorValue reports whether an annotation may have this value. It does not check names of
// local profiles.
func isAppArmorValue(value string) bool {
	return value == "" || value == "runtime/default" || value == "unconfined" || strings.HasPrefix(value, "localhost/")
}

func effectiveAppArmor(spec, container tree.Tree) tree.Tree {
	if own := container.Object("securityContext", "appArmorProfile"); own != nil {
		return own
	}
	return spec.Object("securityContext", "appArmorProfile")
}

func validateAppArmorMatch(annotation string, profile tree.Tree, path string, faults *schema.Faults) {
	name, isLocal := strings.CutPrefix(annotation, "localhost/")
	matches := true
	switch profile.String("type") {
	case "Unconfined":
		matches = annotation == "unconfined"
	case "RuntimeDefault":
		matches = annotation == "runtime/default"
	case "Localhost":
		if matches = isLocal; isLocal && (!profile.Has("localhostProfile") || profile.String("localhostProfile") != name) {
			faults.Forbidden(path+".localhostProfile", "apparmor profile in annotation and field must match")
		}
	}
	if !matches {
		faults.Forbidden(path+".type", "apparmor type in annotation and field must match")
	}
}

// validateAppArmorUpdate keeps the AppArmor annotations of a Pod.
func (p profileAnnotations) validateAppArmorUpdate(now, was tree.Tree, faults *schema.Faults) {
	for _, key := range was.SortedKeys() {
		if strings.HasPrefix(key, p.appArmor) && (!now.Has(key) || now[key] != was[key]) {
			faults.Forbidden(tree.KeyPath("metadata.annotations", key), "may not remove or update AppArmor annotations")
		}
	}
	for _, key := range now.SortedKeys() {
		if strings.HasPrefix(key, p.appArmor) && !was.Has(key) {
			faults.Forbidden(tree.KeyPath("metadata.annotations", key), "may not add AppArmor annotations")
		}
	}
}
