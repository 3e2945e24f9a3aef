package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestLease(t *testing.T) {
	RunCreateCases(t, KindByGVK(t, meta.Platform, "coordination.platform.io", "v1", "Lease"), ``, []CreateCase{
		{Name: "complete", Spec: `"holderIdentity":"h","leaseDurationSeconds":1,"leaseTransitions":0,"strategy":"OldestEmulationVersion","preferredHolder":"i"`, Want: nil},
		{Name: "own strategy", Spec: `"strategy":"acme.io/oldest"`, Want: nil},
		{Name: "numbers", Spec: `"leaseDurationSeconds":0,"leaseTransitions":-1`, Want: []string{"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0", "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "strategy", Spec: `"strategy":"Newest"`, Want: []string{`spec.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"`}},
		{Name: "holder", Spec: `"preferredHolder":"i"`, Want: []string{"spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"}},
	})
}
