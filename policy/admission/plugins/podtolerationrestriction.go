package plugins

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// PodTolerationRestrictionConfig holds the tolerations for namespaces without annotations. An empty
// Whitelist allows all tolerations.
type PodTolerationRestrictionConfig struct{ Default, Whitelist []tree.Tree }

// ParsePodTolerationRestrictionConfig parses a
// podtolerationrestriction.admission.platform.io/v1alpha1 Configuration.
func ParsePodTolerationRestrictionConfig(t tree.Tree) (c PodTolerationRestrictionConfig, err error) {
	for _, list := range []struct {
		name string
		to   *[]tree.Tree
	}{{"default", &c.Default}, {"whitelist", &c.Whitelist}} {
		if *list.to, err = readTolerations(t.List(list.name)); err != nil {
			return c, fmt.Errorf("%s: %w", list.name, err)
		}
		for i, toleration := range *list.to {
			if err := checkToleration(toleration); err != nil {
				return c, fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
		}
	}
	return c, nil
}

// checkToleration validates a configured toleration like a Pod's toleration. A malformed toleration
// would make every new Pod invalid.
func checkToleration(t tree.Tree) error {
	operator, effect := t.String("operator"), t.String("effect")
	switch {
	case !slices.Contains([]string{"", "Equal", "Exists"}, operator):
		return fmt.Errorf("operator %q: must be Equal or Exists", operator)
	case !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, effect):
		return fmt.Errorf("effect %q: must be NoSchedule, PreferNoSchedule or NoExecute", effect)
	case t.String("key") == "" && operator != "Exists":
		return fmt.Errorf("operator must be Exists when key is empty")
	case operator == "Exists" && t.String("value") != "":
		return fmt.Errorf("value must be empty when operator is Exists")
	case t.Has("tolerationSeconds") && effect != "NoExecute":
		return fmt.Errorf("effect must be NoExecute when tolerationSeconds is set")
	}
	return nil
}

// PodTolerationRestriction returns the plugin that adds a namespace's tolerations to new Pods and
// rejects tolerations outside the namespace's whitelist.
func PodTolerationRestriction(naming *meta.Naming, config PodTolerationRestrictionConfig, placements *NamespacePlacements) admission.Registration {
	p := tolerationRestriction{config: config, placements: placements, memoryPressure: naming.Translate("node.platform.io/memory-pressure")}
	return admission.Register("PodTolerationRestriction", p, placements.cache)
}

type tolerationRestriction struct {
	request.HandlesAll
	config         PodTolerationRestrictionConfig
	placements     *NamespacePlacements
	memoryPressure string // taint that all but best-effort Pods tolerate
}

// Admit merges the tolerations. It adds a toleration for memory pressure to Pods that are not
// best-effort, because nodes evict best-effort Pods first. It also checks the whitelist, to fail
// early.
func (p tolerationRestriction) Admit(a *request.Attributes) error {
	extra, err := p.defaults(a)
	if err != nil {
		return err
	}
	if a.New.Object("status").String("qosClass") != "BestEffort" {
		extra = append(extra, tree.Tree{"key": p.memoryPressure, "operator": "Exists", "effect": "NoSchedule"})
	}
	if len(extra) > 0 {
		spec := a.Edit("spec")
		spec["tolerations"] = mergeTolerations(spec.Objects("tolerations"), extra)
	}
	return p.Validate(a)
}

func (p tolerationRestriction) defaults(a *request.Attributes) ([]tree.Tree, error) {
	if !a.IsCreate() {
		return nil, nil
	}
	placement := p.placements.of(a.Key.Namespace)
	switch {
	case placement.defaultsErr != nil:
		return nil, a.Forbidden("the default tolerations of namespace " + a.Key.Namespace + " cannot be read: " + placement.defaultsErr.Error())
	case placement.defaults != nil:
		return cloneTolerations(placement.defaults), nil
	}
	return cloneTolerations(p.config.Default), nil
}

// Validate checks the whitelist. An annotation with an empty list allows all tolerations. Without
// the annotation, the configured whitelist applies.
func (p tolerationRestriction) Validate(a *request.Attributes) error {
	tolerations := a.New.Object("spec").Objects("tolerations")
	if len(tolerations) == 0 {
		return nil
	}
	placement := p.placements.of(a.Key.Namespace)
	if placement.whitelistErr != nil {
		return a.Forbidden("the whitelist of tolerations of namespace " + a.Key.Namespace + " cannot be read: " + placement.whitelistErr.Error())
	}
	whitelist, scope := placement.whitelist, "namespace"
	if whitelist == nil {
		whitelist, scope = p.config.Whitelist, "cluster"
	}
	for _, t := range tolerations {
		if len(whitelist) > 0 && !slices.ContainsFunc(whitelist, func(allowed tree.Tree) bool { return includesToleration(allowed, t) }) {
			return a.Forbidden("pod tolerations (possibly merged with namespace default tolerations) conflict with its " + scope + " whitelist")
		}
	}
	return nil
}
