package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of Pods with their functions. A Pod has four writers, each with a sub-resource that
// changes its own part: the scheduler binds, the node reports the status, an autoscaler resizes, and an
// operator adds a container for debugging. Binding keeps the generation, as it is no change of what was
// asked for.
func Kinds(n *meta.Naming) []family.Kind {
	mirror := n.Translate("platform.io/config.mirror")
	warnings := NewWarnings(n)
	return []family.Kind{
		{Name: "/v1/Pod", Rules: family.WarnChanges(podRules(warnings), warnings.warnPod), Views: family.Views{
			"binding":             {Write: bindPod, KeepsGeneration: true},
			"ephemeralcontainers": ephemeralView(mirror),
			"resize":              resizeView(mirror),
			"status":              {Write: warnings.profiles.writePodStatus, Warn: warnings.warnPodStatus},
		}},
		{Name: "/v1/PodTemplate", Rules: family.WarnChanges(warnings.WithTemplateProfiles(podTemplateRules(), "template"), warnings.warnTemplate)},
	}
}
