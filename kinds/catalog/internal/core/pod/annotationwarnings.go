package pod

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A deprecatedAnnotation is one that has no effect any more, and what is said of it.
type deprecatedAnnotation struct{ key, text string }

// The versions in the texts are those of the public API, which clients know.
func newDeprecatedAnnotations(n *meta.Naming) []deprecatedAnnotation {
	return []deprecatedAnnotation{
		{n.Translate("scheduler.alpha.platform.io/critical-pod"), `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{n.Translate("security.alpha.platform.io/sysctls"), `non-functional in v1.11+; use the "sysctls" field instead`},
		{n.Translate("security.alpha.platform.io/unsafe-sysctls"), `non-functional in v1.11+; use the "sysctls" field instead`},
	}
}

// profileAnnotations are the annotations in which Pods had their security profiles. Those of containers are
// prefixes, which the name of the container follows. Nodes follow the fields: the annotations for seccomp
// have no effect any more, and a Pod that has only these runs without the profile that its author believes
// in.
type profileAnnotations struct{ seccompPod, seccompContainer, appArmor string }

func newProfileAnnotations(n *meta.Naming) profileAnnotations {
	return profileAnnotations{
		seccompPod:       n.Translate("seccomp.security.alpha.platform.io/pod"),
		seccompContainer: n.Translate("container.seccomp.security.alpha.platform.io/"),
		appArmor:         n.Translate("container.apparmor.security.beta.platform.io/"),
	}
}

// warnAnnotations covers what a Pod has as a whole; profiles are compared with fields and have functions of
// their own.
func (c *collector) warnAnnotations() {
	annotations := c.meta.Object("annotations")
	for _, a := range c.checks.annotations {
		if _, given := annotations[a.key]; given {
			c.warnAnnotation(a.key, a.text)
		}
	}
}

func (c *collector) warnAnnotation(key, text string) {
	c.warn(tree.KeyPath("metadata.annotations", key), ": "+text)
}

const (
	seccompText  = `non-functional in v1.27+; use the "seccompProfile" field instead`
	appArmorText = `deprecated since v1.30; use the "appArmorProfile" field instead`
)

// warnPodSeccomp warns of the annotation where the Pod lacks the field.
func (c *collector) warnPodSeccomp() {
	if _, given := c.meta.Object("annotations")[c.profiles.seccompPod]; given && !c.spec.Object("securityContext").Has("seccompProfile") {
		c.warnAnnotation(c.profiles.seccompPod, seccompText)
	}
}

// hasContainerAnnotation tells whether any annotation is that of a container. It is asked once for each
// Pod, so that the usual Pod, which has none, builds no keys for its containers.
func (c *collector) hasContainerAnnotation() bool {
	for key := range c.meta.Object("annotations") {
		if strings.HasPrefix(key, c.profiles.seccompContainer) || strings.HasPrefix(key, c.profiles.appArmor) {
			return true
		}
	}
	return false
}

// containerAnnotation finds the annotation of a container, and tells whether it counts: the container lacks the
// field that took its place.
func (c *collector) containerAnnotation(container tree.Tree, prefix, field string) (key, value string, counts bool) {
	if container.Object("securityContext").Has(field) {
		return "", "", false
	}
	key = prefix + container.String("name")
	v, given := c.meta.Object("annotations")[key]
	value, _ = v.(string)
	return key, value, given
}

// warnContainerProfiles warns of annotations of a container that lacks the fields.
//
// For a whole Pod the AppArmor annotations come first of all warnings (warnPodAppArmor), for a template here; clients
// expect the difference.
func (c *collector) warnContainerProfiles(container tree.Tree) {
	if key, _, counts := c.containerAnnotation(container, c.profiles.seccompContainer, "seccompProfile"); counts {
		c.warnAnnotation(key, seccompText)
	}
	if c.prefix != "" { // of a template
		c.warnAppArmor(container)
	}
}

// warnPodAppArmor warns of the AppArmor annotations of a Pod that have not become fields, before all others. Windows has
// no AppArmor; there the annotation is as harmless as any other.
func (c *collector) warnPodAppArmor() {
	if !c.hasContainerAnnotation() || c.spec.Object("os").String("name") == "windows" {
		return
	}
	for _, list := range containerLists {
		for _, v := range c.spec.List(list) {
			container, _ := v.(tree.Tree)
			c.warnAppArmor(container)
		}
	}
}

// warnAppArmor warns of the annotation of a container, unless it only says what the Pod's own profile says.
func (c *collector) warnAppArmor(container tree.Tree) {
	key, value, counts := c.containerAnnotation(container, c.profiles.appArmor, "appArmorProfile")
	if !counts {
		return
	}
	own := c.spec.Object("securityContext", "appArmorProfile")
	if kind, name := appArmorProfile(value); kind == "" || own.String("type") != kind || own.String("localhostProfile") != name {
		c.warnAnnotation(key, appArmorText)
	}
}

// appArmorProfile reads the value of an annotation; the type is "" if it has no meaning. An unknown value
// is warned of like one without a field beside it.
func appArmorProfile(value string) (kind, localhost string) {
	switch name, isLocal := strings.CutPrefix(value, "localhost/"); {
	case value == "unconfined":
		return "Unconfined", ""
	case value == "runtime/default":
		return "RuntimeDefault", ""
	case isLocal && name != "":
		return "Localhost", name
	}
	return "", ""
}
