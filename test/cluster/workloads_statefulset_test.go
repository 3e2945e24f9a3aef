package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const statefulSets = "/apis/apps/v1/namespaces/default/statefulsets"

func statefulSet(name, spec, template string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{` + spec + `,"serviceName":"s","selector":{"matchLabels":{"app":"` + name + `"}},"template":` + template + `}}`
}

func names(all []client.Object) (names []string) {
	for _, o := range all {
		names = append(names, o.Name())
	}
	slices.Sort(names)
	return names
}

// TestStatefulSet checks that a StatefulSet creates Pods and PersistentVolumeClaims, honors its
// partition, rolls back, and scales down.
func TestStatefulSet(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	const path = statefulSets + "/db"
	c.create(statefulSets, statefulSet("db", `"replicas":3,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`, template("db", "one", "")))
	up := map[string]any{"status.replicas": 3, "status.readyReplicas": 3, "status.availableReplicas": 3, "status.currentReplicas": 3, "status.updatedReplicas": 3}
	s := c.wait(path, up)
	first := s.At("status.currentRevision")
	if got := names(c.list(pods, "app=db")); !slices.Equal(got, []string{"db-0", "db-1", "db-2"}) {
		t.Errorf("Pods %v", got)
	}
	if got := names(c.list("/api/v1/namespaces/default/persistentvolumeclaims", "")); !slices.Equal(got, []string{"data-db-0", "data-db-1", "data-db-2"}) {
		t.Errorf("claims %v", got)
	}
	p := c.get(pods + "/db-1")
	if p.At("spec.hostname") != "db-1" || p.At("spec.subdomain") != "s" || p.Label("statefulset.kubernetes.io/pod-name") != "db-1" || p.Label("apps.kubernetes.io/pod-index") != "1" || p.Label("controller-revision-hash") != first {
		t.Errorf("not db-1: %s", p)
	}
	c.patch(path, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`)
	s = c.wait(path, map[string]any{"status.updatedReplicas": 1, "status.currentReplicas": 2, "status.readyReplicas": 3, "status.currentRevision": first})
	if s.At("status.updateRevision") == first {
		t.Errorf("one revision: %s", s)
	}
	c.patch(path, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	c.wait(path, up)
	s = c.wait(path, map[string]any{"status.currentRevision": s.At("status.updateRevision")})
	// A rollback reuses the first ControllerRevision with a higher revision number.
	c.patch(path, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"one"}]}}}}`)
	c.wait(path, map[string]any{"status.updateRevision": first, "status.currentRevision": first, "status.readyReplicas": 3})
	if all := c.list("/apis/apps/v1/namespaces/default/controllerrevisions", "app=db"); len(all) != 2 {
		t.Errorf("%d revisions: %v", len(all), all)
	}
	// With OnDelete, the new revision becomes current once all Pods use it.
	c.patch(path, `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null},"template":{"spec":{"containers":[{"name":"c","image":"three"}]}}}}`)
	s = c.wait(path, map[string]any{"status.updatedReplicas": nil, "status.currentRevision": first})
	for _, pod := range []string{"db-0", "db-1", "db-2"} {
		c.Send(200, "DELETE", pods+"/"+pod, "", "")
	}
	c.wait(path, map[string]any{"status.updatedReplicas": 3, "status.readyReplicas": 3, "status.currentRevision": s.At("status.updateRevision")})
	c.patch(path, `{"spec":{"replicas":1,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete","whenDeleted":"Retain"}}}`)
	c.wait(path, map[string]any{"status.replicas": 1})
	client.Eventually(t, func() error {
		if got := names(c.list("/api/v1/namespaces/default/persistentvolumeclaims", "")); !slices.Equal(got, []string{"data-db-0"}) {
			return fmt.Errorf("claims %v", got)
		}
		return nil
	})
}

// TestStatefulSetStaleClaim checks that a PersistentVolumeClaim owned by a previous Pod delays the
// new Pod until the claim is deleted.
func TestStatefulSetStaleClaim(t *testing.T) {
	t.Parallel()
	c := serve(t, t.TempDir(), "garbage-collector-controller")
	const claims = "/api/v1/namespaces/default/persistentvolumeclaims"
	c.create(claims, `{"metadata":{"name":"data-db-0","labels":{"app":"db"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"db-0","uid":"11111111-2222-3333-4444-555555555555"}]},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	c.create(statefulSets, statefulSet("db", `"replicas":1,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete","whenDeleted":"Retain"},"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`, template("db", "one", "")))
	c.wait(statefulSets+"/db", map[string]any{"status.observedGeneration": 1})
	if got := names(c.list(pods, "app=db")); len(got) > 0 {
		t.Errorf("Pods %v despite a stale claim", got)
	}
	c.Send(200, "DELETE", claims+"/data-db-0", "", "")
	c.wait(statefulSets+"/db", map[string]any{"status.readyReplicas": 1})
}

// TestStatefulSetOrder checks that an unready Pod delays the creation of the next Pod, unless
// podManagementPolicy is Parallel.
func TestStatefulSetOrder(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create(statefulSets, statefulSet("ordered", `"replicas":3`, template("ordered", "one", `"sim":"unready"`)))
	c.create(statefulSets, statefulSet("parallel", `"replicas":3,"ordinals":{"start":5},"podManagementPolicy":"Parallel"`, template("parallel", "one", `"sim":"unready"`)))
	c.wait(statefulSets+"/parallel", map[string]any{"status.replicas": 3, "status.readyReplicas": nil})
	if got := names(c.list(pods, "app=parallel")); !slices.Equal(got, []string{"parallel-5", "parallel-6", "parallel-7"}) {
		t.Errorf("Pods %v", got)
	}
	c.wait(statefulSets+"/ordered", map[string]any{"status.replicas": 1, "status.readyReplicas": nil})
	client.Eventually(t, func() error {
		if c.get(pods+"/ordered-0").At("status.phase") != "Running" {
			return fmt.Errorf("ordered-0 does not run yet")
		}
		return nil
	})
	c.patch(pods+"/ordered-0/status", `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	c.wait(statefulSets+"/ordered", map[string]any{"status.replicas": 2, "status.readyReplicas": 1})
}
