package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// LimitPodHardAntiAffinityTopology returns the plugin that restricts required anti-affinity to the
// hostname topology. With a wider topology, one Pod could keep all others out of a zone.
func LimitPodHardAntiAffinityTopology(naming *meta.Naming) admission.Registration {
	return admission.Register("LimitPodHardAntiAffinityTopology", antiAffinityLimit{hostname: naming.Translate("platform.io/hostname")})
}

type antiAffinityLimit struct {
	request.HandlesAll
	hostname string
}

func (p antiAffinityLimit) Validate(a *request.Attributes) error {
	terms := a.New.Object("spec", "affinity", "podAntiAffinity").Objects("requiredDuringSchedulingIgnoredDuringExecution")
	for _, term := range terms {
		if key := term.String("topologyKey"); key != p.hostname {
			return a.Forbidden("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey " + key + " but only key " + p.hostname + " is allowed")
		}
	}
	return nil
}
