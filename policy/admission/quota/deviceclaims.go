package quota

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// allDevices is the device count of a request for all devices. It is the maximum per claim.
const allDevices = 32

func deviceClaimEvaluator(naming *meta.Naming) *evaluator {
	suffix := ".deviceclass." + naming.Group("resource") + "/devices"
	return &evaluator{
		counts: []string{countName(meta.GroupResource{Group: naming.Group("resource"), Resource: "resourceclaims"})},
		limits: func(name string) bool { return strings.HasSuffix(name, suffix) },
		usage:  func(claim tree.Tree) amount.List { return deviceUsage(claim, suffix) },
		checks: func(subresource string, _, _ tree.Tree) bool { return subresource == "" },
	}
}

// deviceUsage returns a claim's device count per class. If a request has alternatives, only the
// maximum per class counts, because the scheduler chooses one alternative.
func deviceUsage(claim tree.Tree, suffix string) amount.List {
	var all amount.List
	for _, request := range claim.Object("spec", "devices").Objects("requests") {
		var most amount.List
		for _, alternative := range request.Objects("firstAvailable") {
			most.Raise(devices(alternative, suffix))
		}
		if len(most) == 0 && request.Has("exactly") {
			most = devices(request.Object("exactly"), suffix)
		}
		all.Add(most)
	}
	return all
}

func devices(request tree.Tree, suffix string) amount.List {
	count := int64(0)
	switch request.String("allocationMode") {
	case "ExactCount":
		count, _ = request.Int("count")
	case "All":
		count = allDevices
	}
	return amount.List{{Name: request.String("deviceClassName") + suffix, Amount: amount.Of(count)}}
}
