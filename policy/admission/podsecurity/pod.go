package podsecurity

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pod holds the fields of a Pod or Pod template that checks read.
type pod struct {
	annotations tree.Tree
	spec        tree.Tree
	security    tree.Tree // spec.securityContext, or nil
	containers  []container
	keys        *annotationKeys
}

type container struct {
	name     string
	fields   tree.Tree
	security tree.Tree // the container's securityContext, or nil
}

// containerLists holds the container lists in reporting order.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// newPod reads a Pod or Pod template. Containers that are not objects count as empty, and
// validation rejects them later.
func newPod(object tree.Tree, keys *annotationKeys) *pod {
	spec := object.Object("spec")
	p := &pod{annotations: object.Annotations(), spec: spec, security: spec.Object("securityContext"), keys: keys}
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

func (p *pod) containersThat(match func(c container) bool) (names []string) {
	for _, c := range p.containers {
		if match(c) {
			names = append(names, c.name)
		}
	}
	return names
}

func (p *pod) isWindows() bool { return p.spec.Object("os").String("name") == "windows" }

func (p *pod) hasUserNamespace() bool {
	hostUsers, ok := p.spec["hostUsers"].(bool)
	return ok && !hostUsers
}

type annotationKeys struct{ appArmorPrefix, seccompPod, seccompPrefix string }

func newAnnotationKeys(naming *meta.Naming) *annotationKeys {
	return &annotationKeys{
		appArmorPrefix: naming.Translate("container.apparmor.security.beta.platform.io/"),
		seccompPod:     naming.Translate("seccomp.security.alpha.platform.io/pod"),
		seccompPrefix:  naming.Translate("container.seccomp.security.alpha.platform.io/"),
	}
}

func plural(one, many string, n int) string {
	if n == 1 {
		return one
	}
	return many
}

func quoted(texts []string) string { return `"` + strings.Join(texts, `", "`) + `"` }

func containersText(names []string) string {
	return plural("container", "containers", len(names)) + " " + quoted(names)
}

// settersText describes the places where a forbidden field is set, such as "pod" or "pod and
// containers …". It returns "" if there are none. The text matches Kubernetes.
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

func sortedSet(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
