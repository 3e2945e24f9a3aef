package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A step is a node's next action on a Pod: write its status, remove it, or do nothing. next is the
// time of the next check, or zero.
type step struct {
	status *PodStatus // nil if it is up to date
	remove bool
	next   time.Time
}

// A lifecycle computes the next step of a Pod. It depends only on the Pod, its status and the time,
// so a restarted simulation can resume.
type lifecycle struct {
	pod     *Pod
	now     time.Time // in whole seconds, like API timestamps
	bound   time.Time // when the Pod was first seen on the node
	jobTime time.Duration
	hostIP  string
	podIP   string    // address for a Pod without one in its status
	next    time.Time // step.next
}

// Minimum and maximum container restart backoff.
const (
	firstBackOff = 10 * time.Second
	crashBackOff = 5 * time.Minute
)

func (l *lifecycle) step() step {
	p := l.pod
	switch {
	case p.terminating():
		return l.stop()
	case p.ended():
		return step{}
	}
	if begin := l.bound.Add(duration(p.Metadata.Annotations, startAfter)); p.Status.StartTime == nil && begin.After(l.now) {
		return step{next: wholeSecond(begin)}
	}
	s := l.started()
	if limit := p.Spec.ActiveDeadlineSeconds; limit != nil {
		end := s.StartTime.Add(time.Duration(*limit) * time.Second)
		if !end.After(l.now) {
			l.end(s, 137, "Error")
			s.Phase, s.Reason, s.Message = failed, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
			l.conditions(s, "PodFailed")
			return step{status: l.changed(s)}
		}
		l.look(end)
	}
	l.containers(s)
	return step{status: l.changed(s), next: l.next}
}

// wholeSecond rounds up to a whole second, the resolution of API timestamps.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

func (l *lifecycle) look(at time.Time) {
	at = wholeSecond(at)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
	}
}

func (l *lifecycle) started() *PodStatus {
	s := l.pod.Status
	s.Conditions = slices.Clone(s.Conditions)
	s.InitContainerStatuses = l.statuses(l.pod.Spec.InitContainers, s.InitContainerStatuses)
	s.ContainerStatuses = l.statuses(l.pod.Spec.Containers, s.ContainerStatuses)
	s.EphemeralContainerStatuses = l.statuses(l.pod.Spec.EphemeralContainers, s.EphemeralContainerStatuses)
	s.ObservedGeneration = l.pod.Metadata.Generation
	if s.StartTime == nil {
		s.StartTime = &l.now
	}
	s.HostIP, s.HostIPs = l.hostIP, []IP{{l.hostIP}}
	if s.PodIP == "" {
		s.PodIP = l.hostIP
		if !l.pod.Spec.HostNetwork {
			s.PodIP = l.podIP
		}
		s.PodIPs = []IP{{s.PodIP}}
	}
	return &s
}

// statuses returns one status per container, in spec order. Containers without a status are
// waiting.
func (l *lifecycle) statuses(containers []Container, have []ContainerStatus) []ContainerStatus {
	all := make([]ContainerStatus, 0, len(containers))
	for i := range containers {
		c := &containers[i]
		if s := statusOf(have, c.Name); s != nil {
			is := *s
			is.Image = c.Image
			all = append(all, is)
			continue
		}
		all = append(all, ContainerStatus{Name: c.Name, Image: c.Image, Started: new(false), State: ContainerState{Waiting: &Waiting{Reason: "PodInitializing"}}})
	}
	return all
}

// containers advances all containers to the current time, and updates the Pod's phase and
// conditions.
func (l *lifecycle) containers(s *PodStatus) {
	policy := l.pod.Spec.RestartPolicy
	initialized := true
	for i := range l.pod.Spec.InitContainers {
		c, is := &l.pod.Spec.InitContainers[i], &s.InitContainerStatuses[i]
		if c.RestartPolicy == "Always" { // a sidecar: the next container starts once it has started
			l.advance(c, is, "Always")
			if is.Started == nil || !*is.Started {
				initialized = false
				break
			}
			continue
		}
		initPolicy := policy
		if policy == "Always" {
			initPolicy = "OnFailure" // a completed init container is not restarted
		}
		l.advance(c, is, initPolicy)
		if t := is.State.Terminated; t == nil || t.ExitCode != 0 {
			initialized = false
			if t != nil && policy == "Never" {
				s.Phase = failed
				l.conditions(s, "PodFailed")
				return
			}
			break
		}
	}
	if !initialized {
		s.Phase = pending
		l.conditions(s, "")
		return
	}
	alive, allWell := false, true
	for i := range l.pod.Spec.Containers {
		c, is := &l.pod.Spec.Containers[i], &s.ContainerStatuses[i]
		l.advance(c, is, policy)
		t := is.State.Terminated
		alive = alive || t == nil
		allWell = allWell && t != nil && t.ExitCode == 0
	}
	for i := range l.pod.Spec.EphemeralContainers {
		l.advance(&l.pod.Spec.EphemeralContainers[i], &s.EphemeralContainerStatuses[i], "Never")
	}
	switch {
	case alive:
		s.Phase = running
		l.conditions(s, "")
	case allWell:
		l.endSidecars(s)
		s.Phase = succeeded
		l.conditions(s, "PodCompleted")
	default:
		l.endSidecars(s)
		s.Phase = failed
		l.conditions(s, "PodFailed")
	}
}

func (l *lifecycle) endSidecars(s *PodStatus) {
	for i := range s.InitContainerStatuses {
		l.terminate(&s.InitContainerStatuses[i], 0, "Completed")
	}
}

// advance advances one container to the current time, possibly through several restarts.
func (l *lifecycle) advance(c *Container, is *ContainerStatus, policy string) {
	does := programOf(l.pod, c, l.jobTime)
	for {
		switch {
		case is.State.Terminated != nil:
			t := is.State.Terminated
			if policy == "Never" || policy == "OnFailure" && t.ExitCode == 0 {
				return
			}
			is.RestartCount++
			is.LastState = is.State
			is.State = ContainerState{Waiting: &Waiting{"CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s", backOff(is.RestartCount), c.Name)}}
		case is.State.Running == nil:
			begin := l.now
			if t := is.LastState.Terminated; t != nil {
				begin = t.FinishedAt.Add(backOff(is.RestartCount))
				if begin.After(l.now) {
					l.look(begin)
					return
				}
			}
			is.ContainerID = fmt.Sprintf("simulated://%s/%s/%d", l.pod.Metadata.UID, c.Name, is.RestartCount)
			is.ImageID = "simulated://" + c.Image
			is.State = ContainerState{Running: &Running{begin}}
		default:
			if l.running(c, is, does) {
				return
			}
		}
	}
}

func backOff(n int) time.Duration {
	if n <= 1 {
		return 0 // the first restart is immediate
	}
	return min(firstBackOff<<min(n-2, 10), crashBackOff)
}

func (l *lifecycle) running(c *Container, is *ContainerStatus, does program) bool {
	start := is.State.Running.StartedAt
	if end := wholeSecond(start.Add(does.runs)); !does.forever {
		if !end.After(l.now) {
			is.State = ContainerState{Terminated: &Terminated{ExitCode: does.code, Reason: reasonOf(does.code), StartedAt: start, FinishedAt: end, ContainerID: is.ContainerID}}
			is.Ready, is.Started = false, new(false)
			return false
		}
		l.look(end)
	}
	after, never := readyTime(l.pod, c)
	ready := start.Add(after)
	is.Ready, is.Started = !never && !ready.After(l.now), new(!never || c.StartupProbe == nil)
	if !never && !is.Ready {
		l.look(ready)
	}
	return true
}

func reasonOf(code int) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

func (l *lifecycle) terminate(is *ContainerStatus, code int, reason string) {
	if r := is.State.Running; r != nil {
		is.State = ContainerState{Terminated: &Terminated{ExitCode: code, Reason: reason, StartedAt: r.StartedAt, FinishedAt: l.now, ContainerID: is.ContainerID}}
	}
	is.Ready, is.Started = false, new(false)
}

func (l *lifecycle) end(s *PodStatus, code int, reason string) {
	for _, list := range [][]ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			l.terminate(&list[i], code, reason)
		}
	}
}

// stop handles a Pod that is being deleted. Its containers end after the annotated duration or
// their preStop sleep, but not later than the grace period. Then the Pod is removed.
func (l *lifecycle) stop() step {
	p := l.pod
	var grace time.Duration
	if s := p.Metadata.DeletionGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	takes := duration(p.Metadata.Annotations, stopAfter)
	for i := range p.Spec.Containers {
		takes = max(takes, time.Duration(p.Spec.Containers[i].Lifecycle.PreStop.Sleep.Seconds)*time.Second)
	}
	takes = min(takes, grace)
	if at := p.Metadata.DeletionTimestamp.Add(takes - grace); at.After(l.now) && !p.ended() {
		return step{next: wholeSecond(at)}
	}
	if p.ended() || p.Status.StartTime == nil {
		return step{remove: grace > 0} // with grace period 0 the server deletes it after the last finalizer
	}
	s := l.started()
	l.end(s, terminatedCode, "Error")
	s.Phase = failed
	l.conditions(s, "PodFailed")
	return step{status: s}
}

// terminatedCode is the exit code of a process killed by SIGTERM.
const terminatedCode = 143

// conditions derives the Pod conditions from the container statuses. reason is that of the Ready
// condition if the Pod has ended, and otherwise empty.
func (l *lifecycle) conditions(s *PodStatus, reason string) {
	unready, uninitialized := []string{}, []string{}
	for i := range s.ContainerStatuses {
		if !s.ContainerStatuses[i].Ready {
			unready = append(unready, s.ContainerStatuses[i].Name)
		}
	}
	for i := range s.InitContainerStatuses {
		is := &s.InitContainerStatuses[i]
		sidecar := l.pod.Spec.InitContainers[i].RestartPolicy == "Always"
		switch {
		case sidecar && !is.Ready:
			unready = append(unready, is.Name)
		case !sidecar && (is.State.Terminated == nil || is.State.Terminated.ExitCode != 0):
			uninitialized = append(uninitialized, is.Name)
		}
	}
	over := reason != ""
	condition := func(kind string, holds bool, why, message string) {
		status := "True"
		if !holds {
			status = "False"
		} else {
			why, message = "", ""
		}
		l.condition(s, Condition{Type: kind, Status: status, Reason: why, Message: message, ObservedGeneration: l.pod.Metadata.Generation})
	}
	condition("PodScheduled", true, "", "") // kubelets write its observedGeneration too
	condition("PodReadyToStartContainers", !over, "", "")
	condition("Initialized", len(uninitialized) == 0, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", uninitialized))
	if reason == "PodCompleted" && len(uninitialized) == 0 {
		l.condition(s, Condition{Type: "Initialized", Status: "True", Reason: "PodCompleted", ObservedGeneration: l.pod.Metadata.Generation})
	}
	why, message := reason, ""
	if !over {
		why, message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
	}
	ready := len(unready) == 0 && len(uninitialized) == 0 && !over
	condition("ContainersReady", ready, why, message)
	if ready {
		for _, gate := range l.pod.Spec.ReadinessGates {
			if i := indexOf(s.Conditions, gate.ConditionType); i < 0 || s.Conditions[i].Status != "True" {
				ready, why, message = false, "ReadinessGatesNotReady", fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist or is not True.", gate.ConditionType)
			}
		}
	}
	condition("Ready", ready, why, message)
}

// condition sets one Pod condition. lastTransitionTime changes only if the status changes.
func (l *lifecycle) condition(s *PodStatus, c Condition) {
	c.LastTransitionTime = l.now
	i := indexOf(s.Conditions, c.Type)
	if i < 0 {
		s.Conditions = append(s.Conditions, c)
		return
	}
	if s.Conditions[i].Status == c.Status {
		c.LastTransitionTime = s.Conditions[i].LastTransitionTime
	}
	s.Conditions[i] = c
}

func indexOf(conditions []Condition, kind string) int {
	return slices.IndexFunc(conditions, func(c Condition) bool { return c.Type == kind })
}

func (l *lifecycle) changed(s *PodStatus) *PodStatus {
	if sameJSON(s, &l.pod.Status) {
		return nil
	}
	return s
}

func sameJSON(a, b *PodStatus) bool {
	one, err := json.Marshal(a)
	other, fault := json.Marshal(b)
	return err == nil && fault == nil && bytes.Equal(one, other)
}

// nodeConditions are the Pod conditions that nodes own.
var nodeConditions = []string{"PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"}

func statusPatch(uid string, s PodStatus) any {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c Condition) bool { return !slices.Contains(nodeConditions, c.Type) })
	return map[string]any{"metadata": map[string]any{"uid": uid}, "status": s}
}
