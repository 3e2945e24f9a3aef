package quota

import (
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

var pods = meta.GroupResource{Resource: "pods"}

type podNames struct {
	nativeDomain      string // domain of resources that are not extended
	deviceClassPrefix string // prefix of implicit extended resources for device classes
}

// podEvaluator counts Pods with their requests and limits until they terminate.
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

func (n podNames) isExtended(resource string) bool {
	return strings.HasPrefix(resource, n.deviceClassPrefix) ||
		strings.Contains(resource, "/") && !strings.Contains(resource, n.nativeDomain)
}

func (n podNames) usage(pod tree.Tree) amount.List {
	switch pod.Object("status").String("phase") {
	case "Failed", "Succeeded":
		return nil
	}
	requests, limits := podAmounts(pod)
	return append(n.named(requests, limits), amount.Named{Name: "pods", Amount: one})
}

func (n podNames) named(requests, limits amount.List) amount.List {
	all := make(amount.List, 0, 2*len(requests)+len(limits)+2)
	for _, r := range requests {
		switch {
		case slices.Contains(computeNames, r.Name), strings.HasPrefix(r.Name, hugePages):
			all = append(all, r, amount.Named{Name: requestsPrefix + r.Name, Amount: r.Amount})
		case n.isExtended(r.Name):
			all = append(all, amount.Named{Name: requestsPrefix + r.Name, Amount: r.Amount})
		}
	}
	for _, l := range limits {
		if slices.Contains(computeNames, l.Name) {
			all = append(all, amount.Named{Name: limitsPrefix + l.Name, Amount: l.Amount})
		}
	}
	return all
}

// overdueAt returns the time when a terminating Pod stops counting.
func overdueAt(pod tree.Tree) time.Time {
	metadata := pod.Object("metadata")
	grace, graceful := metadata.Int("deletionGracePeriodSeconds")
	deletion, err := time.Parse(time.RFC3339, metadata.String("deletionTimestamp"))
	if !graceful || err != nil {
		return time.Time{}
	}
	return deletion.Add(time.Duration(grace) * time.Second)
}
