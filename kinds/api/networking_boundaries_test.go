package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestNetworkingValidObjects(t *testing.T) {
	ExpectValid(t, "networking.platform.io", "v1", "NetworkPolicy", `{"spec":{"podSelector":{},"ingress":[{"ports":[{"port":5,"endPort":5}]}]}}`)
	ExpectValid(t, "networking.platform.io", "v1", "IngressClass", `{"spec":{"controller":"a.b/c","parameters":{"kind":"k","name":"n","scope":"Cluster"}}}`)
}

func TestNetworkingValidUpdates(t *testing.T) {
	RunUpdateCases(t, KindByGVK(t, meta.Platform, "networking.platform.io", "v1", "ServiceCIDR"), []UpdateCase{
		{Old: `{"spec":{"cidrs":["10.0.0.0/24"]}}`, Now: `{"spec":{"cidrs":["10.0.0.0/24"]}}`, Want: nil},
		{Old: `{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, Now: `{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, Want: nil},
	})
}
