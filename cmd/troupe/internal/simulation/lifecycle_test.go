package simulation

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// epoch is the binding time of all test Pods.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// play simulates a Pod for some seconds after its binding. It returns a line for each new state,
// with the second, the phase and the state of each container.
func play(t *testing.T, pod string, seconds int, meanwhile func(second int, p *Pod)) (lines []string) {
	t.Helper()
	p := must.Get(decodePod(json.RawMessage(pod)))(t)
	if p.Spec.RestartPolicy == "" {
		p.Spec.RestartPolicy = "Always"
	}
	due := epoch
	for second := 0; second <= seconds; second++ {
		now := epoch.Add(time.Duration(second) * time.Second)
		if meanwhile != nil {
			meanwhile(second, p)
			due = now
		}
		for !due.IsZero() && !due.After(now) {
			l := lifecycle{pod: p, now: now, bound: epoch, jobTime: time.Second, hostIP: "192.0.2.1", podIP: "10.0.0.1"}
			next := l.step()
			switch {
			case next.remove:
				return append(lines, fmt.Sprintf("%d removed", second))
			case next.status != nil:
				p.Status = *next.status
				lines = append(lines, describe(second, p))
			default:
				due = next.next
				if !due.IsZero() && !due.After(now) {
					t.Fatalf("at %d it is to be looked at again at %s", second, due)
				}
				if due.IsZero() {
					due = epoch.Add(time.Hour)
				}
			}
		}
	}
	return lines
}

func describe(second int, p *Pod) string {
	text := fmt.Sprintf("%d %s", second, p.Status.Phase)
	if i := indexOf(p.Status.Conditions, "Ready"); i >= 0 && p.Status.Conditions[i].Status == "True" {
		text += " ready"
	}
	for _, list := range [][]ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, s := range list {
			switch {
			case s.State.Running != nil:
				text += " " + s.Name + "=running"
			case s.State.Terminated != nil:
				text += fmt.Sprintf(" %s=%d", s.Name, s.State.Terminated.ExitCode)
			default:
				text += " " + s.Name + "=" + s.State.Waiting.Reason
			}
			if s.RestartCount > 0 {
				text += fmt.Sprintf("×%d", s.RestartCount)
			}
		}
	}
	return text
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	deleted := func(at, grace int) func(int, *Pod) {
		return func(second int, p *Pod) {
			if second == at {
				end, seconds := epoch.Add(time.Duration(at+grace)*time.Second), int64(grace)
				p.Metadata.DeletionTimestamp, p.Metadata.DeletionGracePeriodSeconds = &end, &seconds
			}
		}
	}
	for _, c := range []struct {
		name, pod string
		seconds   int
		meanwhile func(int, *Pod)
		want      []string
	}{
		{"runs", `{"spec":{"containers":[{"name":"c"}]}}`, 100, nil, []string{"0 Running ready c=running"}},
		{"starts later, ready later", `{"metadata":{"annotations":{"troupe/start-after":"2s","troupe/ready-after":"3s"}},"spec":{"containers":[{"name":"c"}]}}`, 9, nil,
			[]string{"2 Running c=running", "5 Running ready c=running"}},
		{"ends", `{"metadata":{"annotations":{"troupe/exit-after":"4s"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c"},{"name":"d"}]}}`, 9, nil,
			[]string{"0 Running ready c=running d=running", "4 Succeeded c=0 d=0"}},
		{"fails", `{"spec":{"restartPolicy":"Never","containers":[{"name":"c","command":["sh","-c","sleep 1; exit 7"]},{"name":"d","args":["sleep","3"]}]}}`, 9, nil,
			[]string{"0 Running ready c=running d=running", "1 Running c=7 d=running", "3 Failed c=7 d=0"}},
		{"of a Job", `{"metadata":{"ownerReferences":[{"kind":"Job","controller":true}]},"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c"}]}}`, 9, nil,
			[]string{"0 Running ready c=running", "1 Succeeded c=0"}},
		{"starts again", `{"spec":{"containers":[{"name":"c","command":["false"]}]}}`, 35, nil,
			[]string{"0 Running c=CrashLoopBackOff×2", "10 Running c=CrashLoopBackOff×3", "30 Running c=CrashLoopBackOff×4"}},
		{"initializes", `{"spec":{"initContainers":[{"name":"i","command":["sleep","2"]},{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"c"}]}}`, 9, nil,
			[]string{"0 Pending i=running s=PodInitializing c=PodInitializing", "2 Running ready i=0 s=running c=running"}},
		{"initializes somehow", `{"spec":{"initContainers":[{"name":"i","command":["make"]}],"containers":[{"name":"c"}]}}`, 9, nil, []string{"0 Running ready i=0 c=running"}},
		{"of a Job that pauses", `{"metadata":{"ownerReferences":[{"kind":"Job","controller":true}]},"spec":{"containers":[{"name":"c","image":"registry.example/pause:3"}]}}`, 9, nil,
			[]string{"0 Running ready c=running"}},
		{"cannot initialize", `{"spec":{"restartPolicy":"Never","initContainers":[{"name":"i","command":["false"]}],"containers":[{"name":"c"}]}}`, 9, nil,
			[]string{"0 Failed i=1 c=PodInitializing"}},
		{"its deadline passes", `{"spec":{"activeDeadlineSeconds":3,"containers":[{"name":"c"}]}}`, 9, nil, []string{"0 Running ready c=running", "3 Failed c=137"}},
		{"waits for a gate", `{"spec":{"readinessGates":[{"conditionType":"g"}],"containers":[{"name":"c"}]}}`, 3, func(second int, p *Pod) {
			if second == 2 {
				p.Status.Conditions = append(p.Status.Conditions, Condition{Type: "g", Status: "True"})
			}
		}, []string{"0 Running c=running", "2 Running ready c=running"}},
		{"its probe fails", `{"spec":{"containers":[{"name":"c","readinessProbe":{"exec":{"command":["false"]}}}]}}`, 9, nil, []string{"0 Running c=running"}},
		{"its probe begins later", `{"spec":{"containers":[{"name":"c","readinessProbe":{"initialDelaySeconds":2}}]}}`, 9, nil, []string{"0 Running c=running", "2 Running ready c=running"}},
		{"is deleted", `{"spec":{"containers":[{"name":"c"}]}}`, 9, deleted(3, 30), []string{"0 Running ready c=running", "3 Failed c=143", "3 removed"}},
		{"takes its time to go", `{"metadata":{"annotations":{"troupe/stop-after":"4s"}},"spec":{"containers":[{"name":"c"}]}}`, 9, deleted(2, 30),
			[]string{"0 Running ready c=running", "6 Failed c=143", "6 removed"}},
		{"sleeps before it goes", `{"spec":{"containers":[{"name":"c"},{"name":"d","lifecycle":{"preStop":{"sleep":{"seconds":3}}}}]}}`, 9, deleted(2, 30),
			[]string{"0 Running ready c=running d=running", "5 Failed c=143 d=143", "5 removed"}},
		{"takes too long to go", `{"metadata":{"annotations":{"troupe/stop-after":"1h"}},"spec":{"containers":[{"name":"c"}]}}`, 9, deleted(2, 3),
			[]string{"0 Running ready c=running", "5 Failed c=143", "5 removed"}},
		{"is kept by a finalizer", `{"spec":{"containers":[{"name":"c"}]}}`, 9, deleted(2, 0), []string{"0 Running ready c=running", "2 Failed c=143"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(t, c.pod, c.seconds, c.meanwhile)
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestLogsOfRestarts requests the logs of a failing container in each of its states.
func TestLogsOfRestarts(t *testing.T) {
	logs := func(p *Pod, query string) string {
		container, status := p.container("c")
		answer := httptest.NewRecorder()
		new(Cluster).serveLogs(answer, httptest.NewRequest("GET", "/containerLogs"+query, nil), containerRef{container, p, status})
		return strings.TrimSpace(answer.Body.String())
	}
	const (
		initializing = `container "c" in pod "p" is waiting to start: PodInitializing`
		noPrevious   = `previous terminated container "c" in pod "p" not found`
	)
	seen := map[string]bool{}
	play(t, `{"metadata":{"name":"p"},"spec":{"initContainers":[{"name":"i","command":["sleep","1"]}],
		"containers":[{"name":"c","command":["sh","-c","echo one; sleep 1; false"]}]}}`, 20, func(_ int, p *Pod) {
		_, status := p.container("c")
		if status == nil {
			return
		}
		state, current, previous := "initializing", initializing, noPrevious
		switch {
		case status.State.Waiting == nil:
			state, current = "running", "one"
		case status.State.Waiting.Reason == "CrashLoopBackOff":
			state, current = "CrashLoopBackOff", "one"
		}
		if status.RestartCount > 0 {
			previous = "one"
		}
		seen[state] = true
		if got := logs(p, ""); got != current {
			t.Errorf("%s: the log is %q, want %q", state, got, current)
		}
		if got := logs(p, "?previous=true"); got != previous {
			t.Errorf("%s after %d restarts: the previous log is %q, want %q", state, status.RestartCount, got, previous)
		}
	})
	for _, state := range []string{"initializing", "running", "CrashLoopBackOff"} {
		if !seen[state] {
			t.Errorf("the container was never %s: %v", state, seen)
		}
	}
}
