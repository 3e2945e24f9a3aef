package cluster

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// budget formats the status of a PodDisruptionBudget. It returns an error until the controller has
// observed the current generation.
func (c *networkCluster) budget(ns, name string) (string, error) {
	var b struct {
		Metadata struct{ Generation int }
		Status   struct {
			ObservedGeneration, ExpectedPods, CurrentHealthy, DesiredHealthy, DisruptionsAllowed int
			DisruptedPods                                                                        map[string]string
			Conditions                                                                           []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := c.get(policy+"namespaces/"+ns+"/poddisruptionbudgets/"+name, &b); err != nil {
		return "", err
	}
	s := b.Status
	if s.ObservedGeneration != b.Metadata.Generation {
		return "", fmt.Errorf("not observed yet")
	}
	text := fmt.Sprintf("expected %d healthy %d desired %d allowed %d", s.ExpectedPods, s.CurrentHealthy, s.DesiredHealthy, s.DisruptionsAllowed)
	for pod := range s.DisruptedPods {
		text += " disrupted " + pod
	}
	for _, x := range s.Conditions {
		text += fmt.Sprintf(" %s=%s %s", x.Type, x.Status, x.Reason)
		if x.Message != "" {
			text += ": " + x.Message
		}
	}
	return text, nil
}

func (c *networkCluster) wantBudget(ns, name, expected string) {
	c.T.Helper()
	c.soon(func() error {
		got, err := c.budget(ns, name)
		if err != nil {
			return err
		}
		return want(got, expected)
	})
}

// TestDisruptionBudgets checks that the status of a PodDisruptionBudget reflects its Pods and
// their owners' replica counts, and that evictions count against the budget.
func TestDisruptionBudgets(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, nil)
	ns := c.namespace("pdb")
	const budgets = policy + "namespaces/pdb/poddisruptionbudgets"
	c.create(budgets, `{"metadata":{"name":"number"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}}`)
	c.wantBudget("pdb", "number", "expected 0 healthy 0 desired 1 allowed 0 DisruptionAllowed=False InsufficientPods")
	c.pod(ns, "p1", `{"app":"a"}`, "n1", `{"ip":"10.9.0.1"}`, "True")
	c.pod(ns, "p2", `{"app":"a"}`, "n1", `{"ip":"10.9.0.2"}`, "True")
	c.wantBudget("pdb", "number", "expected 2 healthy 2 desired 1 allowed 1 DisruptionAllowed=True SufficientPods")
	c.podStatus(ns, "p2", `{"ip":"10.9.0.2"}`, "False")
	c.wantBudget("pdb", "number", "expected 2 healthy 1 desired 1 allowed 0 DisruptionAllowed=False InsufficientPods")
	c.podStatus(ns, "p2", `{"ip":"10.9.0.2"}`, "True")
	c.wantBudget("pdb", "number", "expected 2 healthy 2 desired 1 allowed 1 DisruptionAllowed=True SufficientPods")
	// Only one eviction is allowed.
	const eviction = `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":"pdb"}}`
	c.Send(201, "POST", ns+"pods/p2/eviction", client.JSON, fmt.Sprintf(eviction, "p2"))
	c.Send(429, "POST", ns+"pods/p1/eviction", client.JSON, fmt.Sprintf(eviction, "p1"))
	c.wantBudget("pdb", "number", "expected 2 healthy 1 desired 1 allowed 0 DisruptionAllowed=False InsufficientPods")

	// A percentage in a PodDisruptionBudget is relative to the replicas of the Pods' owners. Here,
	// these are a Deployment, found through its ReplicaSet, and a custom resource with a scale
	// subresource.
	const definition = `{"metadata":{"name":"sets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"sets","kind":"Set"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`
	c.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	custom := c.create("/apis/example.com/v1/namespaces/pdb/sets", `{"apiVersion":"example.com/v1","kind":"Set","metadata":{"name":"s"},"spec":{"replicas":4}}`)
	const workload = `"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	deployment := c.create("/apis/apps/v1/namespaces/pdb/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":6,`+workload+`}}`)
	set := c.create("/apis/apps/v1/namespaces/pdb/replicasets", `{"metadata":{"name":"rs","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"`+deployment.UID()+`","controller":true}]},"spec":{"replicas":2,`+workload+`}}`)
	owned := func(name, version, kind, owner, uid string) {
		c.create(ns+"pods", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":"b"},"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]},"spec":{"containers":[{"name":"c","image":"i"}]}}`, name, version, kind, owner, uid))
		c.podStatus(ns, name, `{"ip":"10.9.0.9"}`, "True")
	}
	owned("c1", "example.com/v1", "Set", "s", custom.UID())
	owned("c2", "example.com/v1", "Set", "s", custom.UID())
	owned("c3", "apps/v1", "ReplicaSet", "rs", set.UID())
	c.create(budgets, `{"metadata":{"name":"share"},"spec":{"maxUnavailable":"75%","selector":{"matchLabels":{"app":"b"}}}}`)
	c.wantBudget("pdb", "share", "expected 10 healthy 3 desired 2 allowed 1 DisruptionAllowed=True SufficientPods")
	job := c.create("/apis/batch/v1/namespaces/pdb/jobs", `{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	owned("c4", "batch/v1", "Job", "j", job.UID())
	c.wantBudget("pdb", "share", "expected 10 healthy 3 desired 2 allowed 0 DisruptionAllowed=False SyncFailed: jobs.batch does not implement the scale subresource")
	c.Send(200, "DELETE", ns+"pods/c4", client.JSON, "")
	c.wantBudget("pdb", "share", "expected 10 healthy 3 desired 2 allowed 1 DisruptionAllowed=True SufficientPods")
}
