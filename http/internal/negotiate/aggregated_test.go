package negotiate

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestWantsAggregated checks that only version v2 selects the aggregated document, and that an
// earlier plain document of the same weight takes precedence.
func TestWantsAggregated(t *testing.T) {
	n := NewNames(meta.Kubernetes)
	const v2, beta = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	for accept, want := range map[string]bool{
		"": false, "application/json": false, v2: true, v2 + "," + beta + ",application/json": true, "application/json," + v2: false,
		v2 + ";q=0.5,application/json": false, beta: false, beta + ",application/json": false, beta + "," + v2: true,
		"application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList": false,
	} {
		if got := n.WantsAggregated(accept); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
}
