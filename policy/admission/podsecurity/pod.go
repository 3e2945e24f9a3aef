package podsecurity

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pod is a Pod, or the template of one, as the checks read it. It is made once for an evaluation; checks
// only read it.
type pod struct {
	annotations tree.Tree
	spec        tree.Tree
	security    tree.Tree // spec.securityContext; nil if there is none
	containers  []container
	keys        *annotationKeys
}

// A container is one of any sort: init containers come first, then the others, then ephemeral ones.
type container struct {
	name     string
	fields   tree.Tree
	security tree.Tree // its securityContext; nil if there is none
}

// containerLists are the fields of a Pod that hold containers, in the order in which the checks name them.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// newPod reads an object with metadata and a spec. An item that is no object is an empty container, which
// validation refuses elsewhere.
func newPod(object tree.Tree, keys *annotationKeys) *pod {
	spec := object.Object("spec")
	p := &pod{annotations: object.Object("metadata", "annotations"), spec: spec, security: spec.Object("securityContext"), keys: keys}
	n := 0
	for _, list := range containerLists {
		n += len(spec.List(list))
	}
	p.containers = make([]container, 0, n)
	for _, list := range containerLists {
		for _, item := range spec.List(list) {
			fields, _ := item.(tree.Tree)
			p.containers = append(p.containers, container{fields.String("name"), fields, fields.Object("securityContext")})
		}
	}
	return p
}

// containersThat are the names of the containers that match.
func (p *pod) containersThat(match func(c container) bool) (names []string) {
	for _, c := range p.containers {
		if match(c) {
			names = append(names, c.name)
		}
	}
	return names
}

func (p *pod) isWindows() bool { return p.spec.Object("os").String("name") == "windows" }

// hasUserNamespace tells whether the Pod asks for users of its own, so that its root is none of the host's.
func (p *pod) hasUserNamespace() bool {
	hostUsers, ok := p.spec["hostUsers"].(bool)
	return ok && !hostUsers
}

// annotationKeys are the annotations by which Pods asked for profiles before there were fields for them.
type annotationKeys struct{ appArmorPrefix, seccompPod, seccompPrefix string }

func newAnnotationKeys(naming *meta.Naming) *annotationKeys {
	return &annotationKeys{
		appArmorPrefix: naming.Translate("container.apparmor.security.beta.platform.io/"),
		seccompPod:     naming.Translate("seccomp.security.alpha.platform.io/pod"),
		seccompPrefix:  naming.Translate("container.seccomp.security.alpha.platform.io/"),
	}
}

// plural is one or many, by a number.
func plural(one, many string, n int) string {
	if n == 1 {
		return one
	}
	return many
}

func quoted(texts []string) string { return `"` + strings.Join(texts, `", "`) + `"` }

// containersText is as in `containers "a", "b"`.
func containersText(names []string) string {
	return plural("container", "containers", len(names)) + " " + quoted(names)
}

// settersText is who sets something that is forbidden: the Pod as a whole, some of its containers, or both;
// "" for nobody. The words are those of the public implementation.
func settersText(pod bool, containers []string) string {
	switch {
	case !pod && len(containers) == 0:
		return ""
	case !pod:
		return containersText(containers)
	case len(containers) == 0:
		return "pod"
	}
	return "pod and " + containersText(containers)
}

// sortedSet sorts texts, and leaves each of them once.
func sortedSet(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
