package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// TestRestarts checks that controllers resume after a restart at any point, and that all objects
// reach their desired state. Controllers must not create surplus Pods or count a finished Pod
// twice.
func TestRestarts(t *testing.T) {
	t.Parallel()
	const rounds = 5
	dir := t.TempDir()
	for round := range rounds {
		c := serve(t, dir)
		if round == 0 {
			for i := range 3 {
				c.node(fmt.Sprintf("n%d", i+1), "")
			}
			c.create(deployments, deployment("d", `"replicas":12`, template("d", "one", "")))
			c.create("/api/v1/namespaces/default/replicationcontrollers", `{"metadata":{"name":"rc"},"spec":{"replicas":7,"selector":{"app":"rc"},"template":`+template("rc", "one", "")+`}}`)
			c.create(statefulSets, statefulSet("s", `"replicas":4`, template("s", "one", "")))
			c.create(daemonSets, `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":`+template("a", "one", "")+`}}`)
			c.create(jobs, job("j", `"completions":40,"parallelism":8,`, "succeed"))
			c.create(jobs, job("i", `"completions":30,"parallelism":8,"completionMode":"Indexed",`, "succeed"))
			c.create(cronJobs, `{"metadata":{"name":"c"},"spec":{"schedule":"0 0 1 1 *","concurrencyPolicy":"Forbid","jobTemplate":{"metadata":{"labels":{"of":"c"}},"spec":`+jobSpec("", "")+`}}}`)
			ago := time.Now().AddDate(-1, 0, 0).UTC().Format(time.RFC3339)
			c.patch(cronJobs+"/c/status", `{"status":{"lastScheduleTime":"`+ago+`"}}`)
		} else {
			c.patch(deployments+"/d", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"image-%d"}]}}}}`, round))
		}
		client.Eventually(t, func() error { // some progress, but not the end of the work
			if n := len(c.list(pods, "")); n < 20*round {
				return fmt.Errorf("%d Pods", n)
			}
			return nil
		})
		c.kubelet.Stop()
		c.Stop(t)
	}
	c := serve(t, dir)
	c.wait(deployments+"/d", map[string]any{"status.replicas": 12, "status.updatedReplicas": 12, "status.availableReplicas": 12, "status.observedGeneration": rounds})
	c.wait("/api/v1/namespaces/default/replicationcontrollers/rc", map[string]any{"status.replicas": 7, "status.availableReplicas": 7})
	c.wait(statefulSets+"/s", map[string]any{"status.replicas": 4, "status.availableReplicas": 4})
	c.wait(daemonSets+"/a", map[string]any{"status.desiredNumberScheduled": 3, "status.numberAvailable": 3})
	const reached = "True CompletionsReached: Reached expected number of succeeded pods"
	c.waitCondition(jobs+"/j", "Complete", reached)
	c.wait(jobs+"/j", map[string]any{"status.succeeded": 40, "status.failed": nil})
	c.waitCondition(jobs+"/i", "Complete", reached)
	c.wait(jobs+"/i", map[string]any{"status.succeeded": 30, "status.completedIndexes": "0-29"})
	for label, n := range map[string]int{"app=d": 12, "app=rc": 7, "app=s": 4, "app=a": 3, "job-name=j": 40, "job-name=i": 30} {
		client.Eventually(t, func() error {
			if got := len(c.list(pods, label)); got != n {
				return fmt.Errorf("%d Pods of %s, want %d", got, label, n)
			}
			return nil
		})
	}
	if n := len(c.list(jobs, "of=c")); n < 1 || n > 2 { // a new year may have begun
		t.Errorf("%d Jobs of the CronJob", n)
	}
}
