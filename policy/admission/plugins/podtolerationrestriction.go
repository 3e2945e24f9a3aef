package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// PodTolerationRestriction returns the plugin that adds a namespace's tolerations to new Pods and
// rejects tolerations outside the namespace's whitelist. config must be valid.
func PodTolerationRestriction(naming *meta.Naming, config tree.Tree, placements *NamespacePlacements) admission.Registration {
	p := tolerationRestriction{standard: config.Objects("default"), whitelist: config.Objects("whitelist"), placements: placements, memoryPressure: naming.Translate("node.platform.io/memory-pressure")}
	return admission.Register("PodTolerationRestriction", p, placements.cache)
}

type tolerationRestriction struct {
	request.HandlesAll
	standard, whitelist []tree.Tree // for namespaces without annotations
	placements          *NamespacePlacements
	memoryPressure      string // taint that all but best-effort Pods tolerate
}

// Admit merges the tolerations. Pods that are not best-effort also get a toleration for memory
// pressure, because nodes evict best-effort Pods first. Admit checks the whitelist to fail early.
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
	return cloneTolerations(p.standard), nil
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
		whitelist, scope = p.whitelist, "cluster"
	}
	for _, t := range tolerations {
		if len(whitelist) > 0 && !slices.ContainsFunc(whitelist, func(allowed tree.Tree) bool { return includesToleration(allowed, t) }) {
			return a.Forbidden("pod tolerations (possibly merged with namespace default tolerations) conflict with its " + scope + " whitelist")
		}
	}
	return nil
}
