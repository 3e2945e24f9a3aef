package pod

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// containerLists are the lists of containers, in the order of warnings.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

func (c *collector) warnContainers() {
	annotated := c.hasContainerAnnotation()
	for _, list := range containerLists {
		for i, v := range c.spec.List(list) {
			container, _ := v.(tree.Tree)
			if annotated {
				c.warnContainerProfiles(container)
			}
			c.warnResources(container, list, i)
			c.warnEnv(container, list, i)
		}
	}
}

// warnResources warns about fractions of bytes in the resources of a container: the suffix m is
// usually meant as M.
func (c *collector) warnResources(container tree.Tree, list string, i int) {
	resources := container.Object("resources")
	for _, resource := range byteResources {
		for _, kind := range [...]string{"limits", "requests"} {
			if text := warning.FractionalBytes(resources.Object(kind), resource); text != "" {
				c.warn(containerPath(list, i), ".resources."+kind+text)
			}
		}
	}
}

func containerPath(list string, i int) string { return tree.IndexPath("spec."+list, i) }

// warnEnv warns about variables that hide earlier ones of the same name without referring to them.
func (c *collector) warnEnv(container tree.Tree, list string, i int) {
	var seen nameSet
	for j, v := range container.List("env") {
		variable, _ := v.(tree.Tree)
		name := variable.String("name")
		if !seen.add(name) || extends(variable, name) {
			continue
		}
		c.warn(containerPath(list, i), fmt.Sprintf(".env[%d]: hides previous definition of %q, which may be dropped when using apply", j, name))
	}
}

// extends reports whether the value of a variable refers to name among other text, like
// PATH=$(PATH):/opt/bin.
func extends(variable tree.Tree, name string) bool {
	value, ref := variable.String("value"), "$("+name+")"
	return !variable.Has("valueFrom") && value != ref && strings.Contains(value, ref)
}

// warnDuplicates warns about list items that have the same value in field as an earlier item.
func (c *collector) warnDuplicates(list []any, field, path string) {
	var seen nameSet
	for i, v := range list {
		item, _ := v.(tree.Tree)
		if value := item.String(field); seen.add(value) {
			c.warn(tree.IndexPath(path, i), fmt.Sprintf(".%s: duplicate %s %q", field, field, value))
		}
	}
}
