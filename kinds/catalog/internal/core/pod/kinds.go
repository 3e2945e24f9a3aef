package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of Pods with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	mirror := n.Translate("platform.io/config.mirror")
	return []family.Kind{
		{Name: "/v1/Pod", Rules: podRules(n), Views: family.Views{
			"binding":             {Write: bindPod, KeepsGeneration: true},
			"ephemeralcontainers": ephemeralView(mirror),
			"resize":              resizeView(mirror),
			"status":              {Write: writePodStatus},
		}},
		{Name: "/v1/PodTemplate", Rules: podTemplateRules()},
	}
}
