package api_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestServiceNeeds(t *testing.T) {
	for _, c := range []struct {
		spec                                     tree.Tree
		clusterIP, nodePort, allocates, headless bool
		healthCheck                              int64
	}{
		{tree.Tree{"type": "ClusterIP", "healthCheckNodePort": int64(5)}, true, false, false, false, 0},
		{tree.Tree{"type": "ClusterIP", "clusterIPs": []any{"None"}}, true, false, false, true, 0},
		{tree.Tree{"type": "NodePort"}, true, true, true, false, 0},
		{tree.Tree{"type": "LoadBalancer"}, true, true, false, false, 0},
		{tree.Tree{"type": "LoadBalancer", "allocateLoadBalancerNodePorts": true, "externalTrafficPolicy": "Local", "healthCheckNodePort": int64(5)}, true, true, true, false, 5},
		{tree.Tree{"type": "ExternalName"}, false, false, false, false, 0},
	} {
		if service.NeedsClusterIP(c.spec) != c.clusterIP || service.NeedsNodePort(c.spec) != c.nodePort || service.AllocatesNodePorts(c.spec) != c.allocates ||
			service.IsHeadless(c.spec) != c.headless || service.HealthCheckNodePort(c.spec) != c.healthCheck {
			t.Errorf("%v", c.spec)
		}
	}
	ports := tree.Tree{"ports": []any{tree.Tree{"nodePort": int64(3)}, tree.Tree{"port": int64(1)}, tree.Tree{"nodePort": int64(2)}}}
	if got := service.NodePorts(ports); !slices.Equal(got, []int64{3, 2}) {
		t.Error(got)
	}
}

// TestLoneClusterIP calls ValidateClusterIPs directly, as the allocator does, because defaulting
// would set the missing clusterIPs.
func TestLoneClusterIP(t *testing.T) {
	var faults schema.Faults
	service.ValidateClusterIPs(tree.Tree{"clusterIP": "10.0.0.1"}, &faults)
	if got := Lines(faults.List); !slices.Equal(got, []string{"spec.clusterIPs: Required value"}) {
		t.Error(got)
	}
}
