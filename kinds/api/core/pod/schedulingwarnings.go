package pod

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// nullSelector warns about an absent selector, which matches nothing, while an empty one matches
// all Pods.
const nullSelector = "a null labelSelector results in matching no pod"

// warnScheduling warns about deprecated node labels, and constraints that match no Pod.
func (c *collector) warnScheduling() {
	c.texts = c.labels.AppendKeys(c.texts, c.spec.Object("nodeSelector"), func(key string) string {
		return c.at("spec.nodeSelector").Key(key)
	})
	if affinity := c.spec.Object("affinity", "nodeAffinity"); affinity != nil {
		const path = "spec.affinity.nodeAffinity."
		required := affinity.Object("requiredDuringSchedulingIgnoredDuringExecution")
		c.texts = c.labels.AppendTerms(c.texts, required.List("nodeSelectorTerms"),
			c.at(path+"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"))
		c.texts = c.labels.AppendPreferences(c.texts, affinity.List("preferredDuringSchedulingIgnoredDuringExecution"),
			c.at(path+"preferredDuringSchedulingIgnoredDuringExecution"))
	}
	for i, v := range c.spec.List("topologySpreadConstraints") {
		constraint, _ := v.(tree.Tree)
		key := constraint.String("topologyKey")
		if text := c.labels[key]; text != "" {
			c.warn(tree.IndexPath("spec.topologySpreadConstraints", i), ".topologyKey: "+key+" is "+text)
		}
		if !constraint.Has("labelSelector") {
			c.warn(tree.IndexPath("spec.topologySpreadConstraints", i), ".labelSelector: "+nullSelector)
		}
	}
}

// warnPodAffinities warns about terms that match no Pod, such as an ineffective anti-affinity.
func (c *collector) warnPodAffinities() {
	affinity := c.spec.Object("affinity")
	if affinity == nil {
		return
	}
	for _, kind := range [...]string{"podAffinity", "podAntiAffinity"} {
		terms := affinity.Object(kind)
		const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
		for i, v := range terms.List(required) {
			if term, _ := v.(tree.Tree); !term.Has("labelSelector") {
				c.warn(tree.IndexPath("spec.affinity."+kind+"."+required, i), ".labelSelector: "+nullSelector)
			}
		}
		for i, v := range terms.List(preferred) {
			if term, _ := v.(tree.Tree); !term.Object("podAffinityTerm").Has("labelSelector") {
				c.warn(tree.IndexPath("spec.affinity."+kind+"."+preferred, i), ".podAffinityTerm.labelSelector: "+nullSelector)
			}
		}
	}
}
