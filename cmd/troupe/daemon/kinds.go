package daemon

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/catalog"
)

// minimal is the value of --kinds for custom resources and the kinds that they need.
const minimal = "minimal"

// minimalKinds are the versions and resources of --kinds=minimal: the content and identities of
// namespaces, access, leases, events, and the kinds that extend the server.
var minimalKinds = Switches{
	"api/all":           false,
	"api/v1/namespaces": true, "api/v1/configmaps": true, "api/v1/secrets": true, "api/v1/serviceaccounts": true, "api/v1/events": true,
	"events.platform.io/v1": true, "coordination.platform.io/v1": true, "rbac.authorization.platform.io/v1": true,
	"authentication.platform.io/v1": true, "authorization.platform.io/v1": true,
	"apiextensions.platform.io/v1": true, "apiregistration.platform.io/v1": true, "admissionregistration.platform.io/v1": true,
}

// minimalControllers run by default with --kinds=minimal. Others manage kinds that it lacks, or
// fill namespaces with objects for Pods.
const minimalControllers Controllers = apiServerAlias +
	",clusterrole-aggregation-controller,garbage-collector-controller,namespace-controller" +
	",serviceaccount-token-controller,validatingadmissionpolicy-status-controller"

// runtimeConfig returns the preset of --kinds with --runtime-config, which takes precedence.
func (s *settings) runtimeConfig() catalog.RuntimeConfig {
	all := catalog.RuntimeConfig{}
	if s.config.API.Kinds == minimal {
		for key, on := range minimalKinds {
			all[s.naming.Translate(key)] = on
		}
	}
	maps.Copy(all, s.config.API.RuntimeConfig)
	return all
}

// controllerNames returns --controllers, or the preset of --kinds if that has its default.
func (s *settings) controllerNames() Controllers {
	if s.config.API.Kinds == minimal && s.config.Controllers == "*" {
		return minimalControllers
	}
	return s.config.Controllers
}
