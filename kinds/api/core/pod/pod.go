package pod

import (
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/api/scheduling"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podStrategy validates the spec only if it has changed. Claim names are checked only on create,
// because they derive from the Pod's name, which cannot change.
type podStrategy struct {
	schema.DefaultStrategy
	appArmor  string // annotation prefix
	protocols bool   // HTTP probes have a protocol field
	pod, spec *schema.Declaration
}

func (s podStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	defaultPodSpec(spec)
	// Older servers accepted negative periods, which killed containers immediately. Raise them to
	// one second, the shortest period.
	if seconds, _ := spec.Int("terminationGracePeriodSeconds"); seconds < 0 {
		spec["terminationGracePeriodSeconds"] = int64(1)
	}
	field.SetIfEmpty(spec, "enableServiceLinks", true)
	defaultHostPorts(spec)
	defaultRequests(spec)
	if s.protocols {
		defaultProtocols(spec)
	}
	if status := obj.Object("status"); status != nil {
		defaultPodStatus(status)
	}
}

// FinishCreate runs after admission, which may have changed the containers.
func (podStrategy) FinishCreate(obj tree.Tree) {
	spec := obj.Object("spec")
	if hasAmounts(spec.Object("resources")) {
		defaultPodLevel(spec)
		obj.EnsureObject("status")["qosClass"] = qosClass(spec)
	}
	scheduling.MergeLabelKeys(spec, obj.Labels())
}

// GracePeriod returns the requested grace period in seconds, or otherwise the Pod's own. It returns
// 0 for a Pod that is not running. A negative period counts as 1 second.
func (podStrategy) GracePeriod(obj tree.Tree, requested *int64) int64 {
	spec := obj.Object("spec")
	phase := obj.Object("status").String("phase")
	if spec.String("nodeName") == "" || phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	seconds, _ := spec.Int("terminationGracePeriodSeconds")
	if requested != nil {
		seconds = *requested
	}
	if seconds < 0 {
		return 1
	}
	return seconds
}

// Prepare sets the status of a new Pod. Otherwise a client could create a Pod that counts as
// running before it is scheduled. Other writes of the main resource keep the status.
func (s podStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "status")
		// Older clients omit Pod-level resources, which they do not support.
		if spec, was := obj.Object("spec"), old.Object("spec"); was.Has("resources") && !spec.Has("resources") {
			spec["resources"] = was["resources"]
		}
		return
	}
	s.completeAppArmor(obj)
	status := tree.Tree{"phase": "Pending", "qosClass": qosClass(obj.Object("spec"))}
	if len(obj.Object("spec").List("schedulingGates")) > 0 {
		status["conditions"] = []any{tree.Tree{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates",
			"lastProbeTime": nil, "lastTransitionTime": obj.Object("metadata")["creationTimestamp"],
		}}
	}
	obj["status"] = status
}

func defaultHostPorts(spec tree.Tree) {
	if !spec.Bool("hostNetwork") {
		return
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			for _, p := range c.Objects("ports") {
				port, ok := p.Int("containerPort")
				if host, _ := p.Int("hostPort"); ok && host == 0 {
					p["hostPort"] = port
				}
			}
		}
	}
}

// defaultRequests sets missing requests to the limits, because schedulers read only requests. It is
// not called for templates, so that a later change of the limits also applies to the requests.
func defaultRequests(spec tree.Tree) {
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects(list) {
			for key, limit := range c.Object("resources", "limits") {
				if requests := c.EnsureObject("resources", "requests"); requests[key] == nil {
					requests[key] = limit
				}
			}
		}
	}
}

// qosClass returns the quality-of-service class of a Pod. It is Guaranteed if each container has
// equal requests and limits for cpu and memory, BestEffort if no container has a request or limit,
// and otherwise Burstable. Init containers count too. Nodes use the class to decide which Pods to
// evict, so the class never changes after create.
func qosClass(spec tree.Tree) string {
	asked, guaranteed := false, true
	look := func(resources tree.Tree) {
		requests, limits := resources.Object("requests"), resources.Object("limits")
		for _, key := range []string{"cpu", "memory"} {
			request, limit := requests.String(key), limits.String(key)
			asked = asked || resourcelist.IsPositive(request) || resourcelist.IsPositive(limit)
			if !resourcelist.IsPositive(limit) || quantity.Compare(request, limit) != 0 {
				guaranteed = false
			}
		}
	}
	if whole := spec.Object("resources"); hasAmounts(whole) { // Pod-level resources replace the containers'
		look(whole)
	} else {
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range spec.Objects(list) {
				look(c.Object("resources"))
			}
		}
	}
	switch {
	case !asked:
		return "BestEffort"
	case guaranteed:
		return "Guaranteed"
	}
	return "Burstable"
}
