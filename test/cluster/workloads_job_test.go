package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

const (
	jobs     = "/apis/batch/v1/namespaces/default/jobs"
	cronJobs = "/apis/batch/v1/namespaces/default/cronjobs"
)

func jobSpec(spec, sim string) string {
	return `{` + spec + `"template":{"metadata":{"annotations":{"sim":"` + sim + `"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}`
}

func job(name, spec, sim string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":` + jobSpec(spec, sim) + `}`
}

// TestJobs checks the conditions and counts of Jobs, and that the Job finalizer of their Pods is
// removed.
func TestJobs(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	const reached = "True CompletionsReached: Reached expected number of succeeded pods"
	for _, test := range []struct {
		name, spec, sim string
		condition, want string
		fields          map[string]any
	}{
		{"one", ``, "succeed", "Complete", reached, map[string]any{"status.succeeded": 1, "status.active": nil, "status.failed": nil}},
		{"many", `"completions":25,"parallelism":10,`, "succeed", "Complete", reached, map[string]any{"status.succeeded": 25}},
		{"queue", `"parallelism":3,`, "succeed", "Complete", reached, map[string]any{}},
		{"indexed", `"completions":5,"parallelism":3,"completionMode":"Indexed",`, "succeed", "Complete", reached, map[string]any{"status.succeeded": 5, "status.completedIndexes": "0-4"}},
		{"fails", `"backoffLimit":0,`, "fail", "Failed", "True BackoffLimitExceeded: Job has reached the specified backoff limit", map[string]any{"status.failed": 1, "status.succeeded": nil}},
		{"deadline", `"activeDeadlineSeconds":1,`, "", "Failed", "True DeadlineExceeded: Job was active longer than specified deadline", map[string]any{"status.failed": 1}},
		{"indexfails", `"completions":3,"parallelism":3,"completionMode":"Indexed","backoffLimitPerIndex":0,`, "fail", "Failed", "True FailedIndexes: Job has failed indexes", map[string]any{"status.failedIndexes": "0-2"}},
		{"policy", `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}]},`, "fail", "Failed", "", map[string]any{"status.failed": 1}},
		{"success", `"completions":4,"parallelism":1,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededCount":2}]},`, "succeed", "Complete", "True SuccessPolicy: Matched rules at index 0", map[string]any{"status.completedIndexes": "0,1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &workloadCluster{Session: client.Session{Server: c.Server, Ctx: c.Ctx, T: t}}
			c.create(jobs, job(test.name, test.spec, test.sim))
			path := jobs + "/" + test.name
			if test.want != "" {
				c.waitCondition(path, test.condition, test.want)
			} else {
				client.Eventually(t, func() error {
					if condition(c.get(path), test.condition) == "" {
						return fmt.Errorf("no condition %s", test.condition)
					}
					return nil
				})
			}
			c.wait(path, test.fields)
			client.Eventually(t, func() error {
				for _, p := range c.list(pods, "job-name="+test.name) {
					if p.At("metadata.finalizers") != nil {
						return fmt.Errorf("%s has still a finalizer", p.Name())
					}
				}
				return nil
			})
		})
	}
}

// TestSuspend checks that a suspended Job has no active Pods and can be resumed.
func TestSuspend(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create(jobs, job("s", `"parallelism":3,"completions":3,`, ""))
	path := jobs + "/s"
	c.wait(path, map[string]any{"status.active": 3, "status.ready": 3})
	c.patch(path, `{"spec":{"suspend":true}}`)
	c.waitCondition(path, "Suspended", "True JobSuspended: Job suspended")
	c.wait(path, map[string]any{"status.active": nil, "status.failed": nil, "status.terminating": 0})
	c.patch(path, `{"spec":{"suspend":false}}`)
	c.waitCondition(path, "Suspended", "False JobResumed: Job resumed")
	c.wait(path, map[string]any{"status.active": 3, "status.ready": 3})
	// Deleting the Job also removes the finalizers of its Pods.
	c.Send(200, "DELETE", path+"?propagationPolicy=Background", "", "")
	client.Eventually(t, func() error {
		if n := len(c.list(pods, "job-name=s")); n > 0 {
			return fmt.Errorf("%d Pods are left", n)
		}
		return nil
	})
}

// TestInvalidSchedule checks that a schedule that never occurs is reported in an Event.
func TestInvalidSchedule(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create(cronJobs, `{"metadata":{"name":"never"},"spec":{"schedule":"59 23 31 2 *","jobTemplate":{"spec":`+jobSpec("", "")+`}}}`)
	const want = "Warning InvalidSchedule invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"
	client.Eventually(t, func() error {
		for _, e := range c.list("/api/v1/namespaces/default/events", "") {
			if e.At("involvedObject.name") != "never" {
				continue
			}
			if got := fmt.Sprint(e.At("type"), " ", e.At("reason"), " ", e.At("message")); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
			return nil
		}
		return errors.New("no Event")
	})
}

// TestCronJob checks that a CronJob creates one Job for the last missed time, and deletes the Job
// after it succeeds.
func TestCronJob(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create(cronJobs, `{"metadata":{"name":"c"},"spec":{"schedule":"* * * * *","concurrencyPolicy":"Forbid","successfulJobsHistoryLimit":0,"jobTemplate":{"metadata":{"labels":{"of":"c"}},"spec":`+jobSpec("", "")+`}}}`)
	ago := time.Now().Add(-90 * time.Second).UTC().Format(time.RFC3339)
	c.patch(cronJobs+"/c/status", `{"status":{"lastScheduleTime":"`+ago+`"}}`)
	var made client.Object
	client.Eventually(t, func() error {
		all := c.list(jobs, "of=c")
		if len(all) != 1 {
			return fmt.Errorf("%d Jobs", len(all))
		}
		made = all[0]
		return nil
	})
	if got := made.At("metadata.ownerReferences"); got == nil {
		t.Errorf("not owned: %s", made)
	}
	client.Eventually(t, func() error {
		active, _ := c.get(cronJobs + "/c").At("status.active").([]any)
		if len(active) != 1 {
			return fmt.Errorf("%v", active)
		}
		return nil
	})
	// The successful Job is deleted, because the history limit is 0. Repeat the status update,
	// because the simulated kubelet may overwrite it.
	client.Eventually(t, func() error {
		for _, p := range c.list(pods, "job-name="+made.Name()) {
			_, _ = c.Patch(c.Ctx, pods+"/"+p.Name()+"/status", map[string]any{"status": map[string]any{"phase": "Succeeded"}})
		}
		for _, j := range c.list(jobs, "of=c") {
			if j.UID() == made.UID() {
				return fmt.Errorf("%s", j)
			}
		}
		return nil
	})
}
