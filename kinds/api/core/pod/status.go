package pod

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writePodStatus replaces the status. It keeps the QoS class and the statuses of claims if the body
// lacks them, because older clients do not support these fields.
func (s podStrategy) writePodStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	old, status := maps.Clone(obj), body.EnsureObject("status")
	defaultPodStatus(status)
	for _, name := range []string{"qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"} {
		if v := status[name]; v == nil || v == "" {
			status.CopyField(old.Object("status"), name)
		}
	}
	obj["status"] = status
	next := maps.Clone(obj)
	next.CopyField(body, "metadata")
	s.pod.Message().Checks().Status.Run(next, old, "", faults)
	return nil
}

// defaultPodStatus keeps podIP equal to the first item of podIPs. If they differ, podIP replaces
// the list, because kubelets without dual-stack support change only podIP and send the list back
// unchanged.
func defaultPodStatus(status tree.Tree) {
	single, all := status.String("podIP"), status.Objects("podIPs")
	switch {
	case single != "" && (len(all) == 0 || all[0].String("ip") != single):
		status["podIPs"] = []any{tree.Tree{"ip": single}}
	case single == "" && len(all) > 0:
		status["podIP"] = all[0].String("ip")
	}
}
