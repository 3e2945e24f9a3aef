package pod

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A deprecatedAnnotation is an annotation without effect, and the warning about it.
type deprecatedAnnotation struct{ key, text string }

// newDeprecatedAnnotations has the versions of Kubernetes in its texts.
func newDeprecatedAnnotations(n *meta.Naming) []deprecatedAnnotation {
	return []deprecatedAnnotation{
		{n.Translate("scheduler.alpha.platform.io/critical-pod"), `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{n.Translate("security.alpha.platform.io/sysctls"), `non-functional in v1.11+; use the "sysctls" field instead`},
		{n.Translate("security.alpha.platform.io/unsafe-sysctls"), `non-functional in v1.11+; use the "sysctls" field instead`},
	}
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

// warnAnnotations warns about annotations of the whole Pod. Profiles, which are compared with
// fields, have their own functions.
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

func (c *collector) warnPodSeccomp() {
	if _, given := c.meta.Object("annotations")[c.profiles.seccompPod]; given && !c.spec.Object("securityContext").Has("seccompProfile") {
		c.warnAnnotation(c.profiles.seccompPod, seccompText)
	}
}

// hasContainerAnnotation reports whether any annotation is for a container. Checking it once per
// Pod avoids building keys for the containers of usual Pods.
func (c *collector) hasContainerAnnotation() bool {
	for key := range c.meta.Object("annotations") {
		if strings.HasPrefix(key, c.profiles.seccompContainer) || strings.HasPrefix(key, c.profiles.appArmor) {
			return true
		}
	}
	return false
}

// containerAnnotation returns the annotation of a container; counts is false if the container has
// the field that replaced it.
func (c *collector) containerAnnotation(container tree.Tree, prefix, field string) (key, value string, counts bool) {
	if container.Object("securityContext").Has(field) {
		return "", "", false
	}
	key = prefix + container.String("name")
	v, given := c.meta.Object("annotations")[key]
	value, _ = v.(string)
	return key, value, given
}

// warnContainerProfiles warns about annotations of a container that lacks the fields. As in
// kube-apiserver, AppArmor warnings of a Pod come first of all (warnPodAppArmor), those of a
// template here.
func (c *collector) warnContainerProfiles(container tree.Tree) {
	if key, _, counts := c.containerAnnotation(container, c.profiles.seccompContainer, "seccompProfile"); counts {
		c.warnAnnotation(key, seccompText)
	}
	if c.prefix != "" { // a template
		c.warnAppArmor(container)
	}
}

// warnPodAppArmor warns about AppArmor annotations of a Pod that have not become fields. Windows
// has no AppArmor.
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

// warnAppArmor warns about the annotation of a container, unless it repeats the Pod's own profile.
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

// appArmorProfile parses the value of an annotation; the type of an unknown value is "".
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
