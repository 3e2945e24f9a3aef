package daemon

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/catalog"
)

// minimal is the value of --kinds that selects custom resources and the kinds that they need.
const minimal = "minimal"

// minimalKinds are the versions and resources of --kinds=minimal: the content and identities of
// namespaces, access, leases, events, and the kinds that extend the server.
var minimalKinds = []string{
	"api/v1/namespaces", "api/v1/configmaps", "api/v1/secrets", "api/v1/serviceaccounts", "api/v1/events",
	"events.platform.io/v1", "coordination.platform.io/v1", "rbac.authorization.platform.io/v1",
	"authentication.platform.io/v1", "authorization.platform.io/v1",
	"apiextensions.platform.io/v1", "apiregistration.platform.io/v1", "admissionregistration.platform.io/v1",
}

// minimalControllers run by default with --kinds=minimal. Others manage kinds that it omits, or
// fill namespaces with objects for Pods.
const minimalControllers Controllers = apiServerAlias +
	",clusterrole-aggregation-controller,garbage-collector-controller,namespace-controller" +
	",serviceaccount-token-controller,validatingadmissionpolicy-status-controller"

func (s *settings) runtimeConfig() catalog.RuntimeConfig {
	all := catalog.RuntimeConfig{}
	if s.config.API.Kinds == minimal {
		all["api/all"] = false
		for _, key := range minimalKinds {
			all[s.naming.Translate(key)] = true
		}
	}
	maps.Copy(all, s.config.API.RuntimeConfig)
	return all
}

// controllerNames returns --controllers or, if it has its default, the preset of --kinds.
func (s *settings) controllerNames() Controllers {
	if s.config.API.Kinds == minimal && s.config.Controllers == "*" {
		return minimalControllers
	}
	return s.config.Controllers
}
