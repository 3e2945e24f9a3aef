package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const (
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	replicaSets = "/apis/apps/v1/namespaces/default/replicasets"
	pods        = "/api/v1/namespaces/default/pods"
)

func template(app, image, annotations string) string {
	return `{"metadata":{"labels":{"app":"` + app + `"},"annotations":{` + annotations + `}},"spec":{"containers":[{"name":"c","image":"` + image + `"}]}}`
}

func deployment(name, spec, template string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{` + spec + `,"selector":{"matchLabels":{"app":"` + name + `"}},"template":` + template + `}}`
}

// TestRollout checks that a Deployment becomes available, that updates are rolled out, and that old
// ReplicaSets beyond the history limit are deleted.
func TestRollout(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	path := deployments + "/web"
	c.create(deployments, deployment("web", `"replicas":4,"revisionHistoryLimit":2`, template("web", "one", "")))
	done := map[string]any{"status.availableReplicas": 4, "status.updatedReplicas": 4, "status.replicas": 4, "status.unavailableReplicas": nil}
	d := c.wait(path, done)
	c.waitCondition(path, "Available", "True MinimumReplicasAvailable: Deployment has minimum availability.")
	sets := c.list(replicaSets, "app=web")
	if len(sets) != 1 || !strings.HasPrefix(sets[0].Name(), "web-") || sets[0].Label("pod-template-hash") == "" {
		t.Fatalf("sets: %v", sets)
	}
	first := sets[0].Name()
	c.waitCondition(path, "Progressing", fmt.Sprintf("True NewReplicaSetAvailable: ReplicaSet %q has successfully progressed.", first))
	if d.At("metadata.annotations") == nil {
		t.Errorf("no revision: %s", d)
	}
	for i := 2; i <= 5; i++ {
		c.patch(path, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"image-%d"}]}}}}`, i))
		client.Eventually(t, func() error {
			d := c.get(path)
			if got := d.Metadata()["annotations"].(map[string]any)["deployment.kubernetes.io/revision"]; got != fmt.Sprint(i) {
				return fmt.Errorf("revision %v", got)
			}
			return nil
		})
		c.wait(path, map[string]any{"status.observedGeneration": i, "status.availableReplicas": 4, "status.updatedReplicas": 4, "status.replicas": 4})
	}
	client.Eventually(t, func() error {
		if n := len(c.list(replicaSets, "app=web")); n != 3 {
			return fmt.Errorf("%d sets are kept, want 3", n)
		}
		return nil
	})
	client.Eventually(t, func() error {
		lines := c.events("default", "web")
		if want := "deployment-controller ScalingReplicaSet: Scaled up replica set " + first + " from 0 to 4"; !slices.Contains(lines, want) {
			return fmt.Errorf("%q is not among %q", want, lines)
		}
		return nil
	})
}

// TestRolloutOfFalse checks that explicitly setting a field to false starts a rollout, and setting
// an empty list does not.
func TestRolloutOfFalse(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	path := deployments + "/safe"
	c.create(deployments, deployment("safe", `"replicas":1`, template("safe", "one", "")))
	c.wait(path, map[string]any{"status.observedGeneration": 1, "status.availableReplicas": 1})
	c.patch(path, `{"spec":{"template":{"spec":{"automountServiceAccountToken":false}}}}`)
	c.wait(path, map[string]any{"metadata.generation": 2, "status.observedGeneration": 2, "status.updatedReplicas": 1, "status.replicas": 1, "status.availableReplicas": 1})
	c.patch(path, `{"spec":{"template":{"spec":{"tolerations":[],"hostNetwork":false}}}}`)
	c.wait(path, map[string]any{"metadata.generation": 2})
	if sets := c.list(replicaSets, "app=safe"); len(sets) != 2 {
		t.Errorf("%d sets, want 2: %v", len(sets), sets)
	}
	for _, pod := range c.list(pods, "app=safe") {
		if pod.At("metadata.deletionTimestamp") != nil {
			continue // the Pod of the first template may still be terminating
		}
		if pod.At("spec.automountServiceAccountToken") != false {
			t.Errorf("%s has a token", pod.Name())
		}
	}
}

// TestRecreate checks that the Recreate strategy creates new Pods only after the last old Pod is
// deleted.
func TestRecreate(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	path := deployments + "/r"
	c.create(deployments, deployment("r", `"replicas":2,"strategy":{"type":"Recreate"}`, template("r", "one", `"sim":"stay"`)))
	c.wait(path, map[string]any{"status.replicas": 2})
	client.Eventually(t, func() error { // without a node they would be deleted at once
		for _, p := range c.list(pods, "app=r") {
			if p.At("status.phase") != "Running" {
				return fmt.Errorf("%s does not run", p.Name())
			}
		}
		return nil
	})
	c.patch(path, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`)
	c.wait(path, map[string]any{"status.observedGeneration": 2, "status.replicas": nil, "status.terminatingReplicas": 2})
	if all := c.list(pods, "app=r"); len(all) != 2 {
		t.Errorf("%d Pods, want 2 terminating ones", len(all))
	}
	for _, p := range c.list(pods, "app=r") {
		c.Send(200, "DELETE", pods+"/"+p.Name()+"?gracePeriodSeconds=0", "", "")
	}
	c.wait(path, map[string]any{"status.updatedReplicas": 2, "status.availableReplicas": 2, "status.replicas": 2})
}

// TestScale checks that scaling a Deployment during a rollout scales its ReplicaSets
// proportionally. A pause must stop the rollout, and an exceeded progress deadline must be
// reported.
func TestScale(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	path := deployments + "/s"
	c.create(deployments, deployment("s", `"replicas":10,"progressDeadlineSeconds":2,"strategy":{"rollingUpdate":{"maxSurge":3,"maxUnavailable":2}}`, template("s", "one", "")))
	c.wait(path, map[string]any{"status.availableReplicas": 10})
	c.patch(path, `{"spec":{"template":{"metadata":{"annotations":{"sim":"unready"}}}}}`)
	c.wait(path, map[string]any{"status.availableReplicas": 8, "status.updatedReplicas": 5, "status.replicas": 13})
	c.waitCondition(path, "Progressing", fmt.Sprintf("False ProgressDeadlineExceeded: ReplicaSet %q has timed out progressing.", c.newest("s")))
	c.patch(path, `{"spec":{"replicas":20}}`)
	c.wait(path, map[string]any{"status.updatedReplicas": 9, "status.replicas": 23})
	c.patch(path, `{"spec":{"paused":true,"template":{"metadata":{"annotations":{"sim":"run"}}}}}`)
	c.wait(path, map[string]any{"status.observedGeneration": 4, "status.updatedReplicas": nil})
	c.patch(path, `{"spec":{"paused":false}}`)
	c.wait(path, map[string]any{"status.availableReplicas": 20, "status.updatedReplicas": 20, "status.replicas": 20})
	c.patch(path, `{"spec":{"replicas":0}}`)
	c.wait(path, map[string]any{"status.availableReplicas": nil, "status.replicas": nil})
}

func (c *workloadCluster) newest(app string) (name string) {
	c.T.Helper()
	highest := ""
	for _, s := range c.list(replicaSets, "app="+app) {
		if r := fmt.Sprint(s.Metadata()["annotations"].(map[string]any)["deployment.kubernetes.io/revision"]); r > highest {
			highest, name = r, s.Name()
		}
	}
	return name
}

// TestAdoption checks that a ReplicaSet adopts matching orphans and releases Pods that no longer
// match. Deployments with the same selector do not share Pods.
func TestAdoption(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create(pods, `{"metadata":{"name":"lost","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	c.create(replicaSets, `{"metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"a"}},"template":`+template("a", "one", "")+`}}`)
	c.wait(replicaSets+"/a", map[string]any{"status.replicas": 2, "status.availableReplicas": 2})
	client.Eventually(t, func() error { // the controller may observe the ReplicaSet before the Pod
		if all := c.list(pods, "app=a"); len(all) != 2 || c.get(pods+"/lost").At("metadata.ownerReferences") == nil {
			return fmt.Errorf("not adopted, of %d Pods: %s", len(all), c.get(pods+"/lost"))
		}
		return nil
	})
	c.patch(pods+"/lost", `{"metadata":{"labels":{"app":"other"}}}`)
	client.Eventually(t, func() error {
		if p := c.get(pods + "/lost"); p.At("metadata.ownerReferences") != nil || len(c.list(pods, "app=a")) != 2 {
			return fmt.Errorf("not released: %s", p)
		}
		return nil
	})
	for _, name := range []string{"x", "y"} {
		c.create(deployments, `{"metadata":{"name":"`+name+`"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"same"}},"template":`+template("same", name, "")+`}}`)
	}
	for _, name := range []string{"x", "y"} {
		c.wait(deployments+"/"+name, map[string]any{"status.replicas": 3, "status.availableReplicas": 3})
	}
	if n := len(c.list(pods, "app=same")); n != 6 {
		t.Errorf("%d Pods of two Deployments with 3 each", n)
	}
}

// TestQuiet checks that controllers stop writing once all objects have their desired state, even if
// two Deployments share a selector.
func TestQuiet(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	for _, name := range []string{"x", "y"} {
		c.create(deployments, `{"metadata":{"name":"`+name+`"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"same"}},"template":`+template("same", name, "")+`}}`)
	}
	c.create(jobs, job("done", ``, "succeed"))
	for _, name := range []string{"x", "y"} {
		c.wait(deployments+"/"+name, map[string]any{"status.availableReplicas": 3, "status.observedGeneration": 1})
		c.waitCondition(deployments+"/"+name, "Progressing", fmt.Sprintf("True NewReplicaSetAvailable: ReplicaSet %q has successfully progressed.", c.setOf(name)))
	}
	c.waitCondition(jobs+"/done", "Complete", "True CompletionsReached: Reached expected number of succeeded pods")
	version := func() (v uint64) {
		for _, path := range []string{deployments, replicaSets, pods, jobs} {
			for _, o := range c.list(path, "") {
				v = max(v, o.Version())
			}
		}
		return v
	}
	// After pending writes, writing an unrelated object must cause no controller writes.
	client.Eventually(t, func() error {
		before := version()
		for range 20 {
			c.patch("/api/v1/namespaces/default", `{"metadata":{"annotations":{"a":"`+fmt.Sprint(before)+`"}}}`)
		}
		if now := version(); now != before {
			return fmt.Errorf("from version %d to %d", before, now)
		}
		return nil
	})
}

func (c *workloadCluster) setOf(deployment string) string {
	c.T.Helper()
	for _, s := range c.list(replicaSets, "") {
		if strings.HasPrefix(s.Name(), deployment+"-") {
			return s.Name()
		}
	}
	return ""
}

// TestRefusedPods checks that Pods rejected by a quota are reported in conditions and Events, and
// created once the quota allows them.
func TestRefusedPods(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create("/api/v1/namespaces/default/resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"2"}}}`)
	path := deployments + "/q"
	c.create(deployments, deployment("q", `"replicas":5`, template("q", "one", "")))
	client.Eventually(t, func() error {
		if got := condition(c.get(path), "ReplicaFailure"); !strings.HasPrefix(got, "True FailedCreate: pods ") || !strings.Contains(got, "exceeded quota: q") {
			return fmt.Errorf("condition %q", got)
		}
		return nil
	})
	client.Eventually(t, func() error {
		lines := c.events("default", c.setOf("q"))
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "replicaset-controller FailedCreate: Error creating: ")
		}) {
			return fmt.Errorf("Events %q", lines)
		}
		return nil
	})
	c.patch("/api/v1/namespaces/default/resourcequotas/q", `{"spec":{"hard":{"pods":"9"}}}`)
	c.wait(path, map[string]any{"status.availableReplicas": 5})
	if got := condition(c.get(path), "ReplicaFailure"); got != "" {
		client.Eventually(t, func() error {
			if got := condition(c.get(path), "ReplicaFailure"); got != "" {
				return fmt.Errorf("condition %q", got)
			}
			return nil
		})
	}
}
