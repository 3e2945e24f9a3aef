package quota

import (
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// pods are the resource whose objects stop counting when they have ended.
var pods = meta.GroupResource{Resource: "pods"}

// podNames knows the names of a profile.
type podNames struct {
	nativeDomain      string // of resources that no vendor has added
	deviceClassPrefix string // of resources that are device classes
}

// podEvaluator counts Pods and what they request and are limited to, until they have ended.
func podEvaluator(naming *meta.Naming) *evaluator {
	n := podNames{nativeDomain: naming.Translate("platform.io/")}
	n.deviceClassPrefix = "deviceclass.resource." + n.nativeDomain
	return &evaluator{
		counts:     []string{"count/pods"},
		limits:     n.limits,
		usage:      n.usage,
		inScope:    podInScope,
		constraint: podConstraint,
		checks: func(subresource string, now, was tree.Tree) bool {
			return subresource == "resize" || subresource == "" && isTerminating(now) != isTerminating(was)
		},
	}
}

// The resources of containers that a quota limits by name.
var (
	computeNames = []string{"cpu", "memory", "ephemeral-storage"}
	podLimits    = []string{
		"pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage",
	}
)

const hugePages, requestsPrefix, limitsPrefix = "hugepages-", "requests.", "limits."

func (n podNames) limits(name string) bool {
	resource, request := strings.CutPrefix(name, requestsPrefix)
	switch {
	case slices.Contains(podLimits, name), strings.HasPrefix(resource, hugePages):
		return true
	}
	return request && n.isExtended(resource)
}

// isExtended tells whether a vendor has added a resource. Of those only requests are limited.
func (n podNames) isExtended(resource string) bool {
	return strings.HasPrefix(resource, n.deviceClassPrefix) ||
		strings.Contains(resource, "/") && !strings.Contains(resource, n.nativeDomain)
}

// usage is what a Pod counts that has not ended.
func (n podNames) usage(pod tree.Tree) amounts {
	switch pod.Object("status").String("phase") {
	case "Failed", "Succeeded":
		return nil
	}
	requests, limits := podAmounts(pod)
	return append(n.named(requests, limits), namedAmount{"pods", one})
}

// named are requests and limits under the names that quotas have for them.
func (n podNames) named(requests, limits amounts) amounts {
	all := make(amounts, 0, 2*len(requests)+len(limits)+2)
	for _, r := range requests {
		switch {
		case slices.Contains(computeNames, r.name), strings.HasPrefix(r.name, hugePages):
			all = append(all, r, namedAmount{requestsPrefix + r.name, r.amount})
		case n.isExtended(r.name):
			all = append(all, namedAmount{requestsPrefix + r.name, r.amount})
		}
	}
	for _, l := range limits {
		if slices.Contains(computeNames, l.name) {
			all = append(all, namedAmount{limitsPrefix + l.name, l.amount})
		}
	}
	return all
}

// overdueAt is when a Pod that is being deleted stops counting, because its node seems to be lost; zero
// for one that is not being deleted.
func overdueAt(pod tree.Tree) time.Time {
	metadata := pod.Object("metadata")
	grace, graceful := metadata.Int("deletionGracePeriodSeconds")
	deletion, err := time.Parse(time.RFC3339, metadata.String("deletionTimestamp"))
	if !graceful || err != nil {
		return time.Time{}
	}
	return deletion.Add(time.Duration(grace) * time.Second)
}
