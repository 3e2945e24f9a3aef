package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A step is what a node does next for a Pod: it writes a status, or removes the Pod, or neither; and it looks again at
// the time next, unless that is zero.
type step struct {
	status *PodStatus // nil: it is as it should be
	remove bool
	next   time.Time
}

// A lifecycle decides what becomes of a Pod. It keeps nothing: where a Pod is in its life is in its status, so another
// process goes on where one has ended.
type lifecycle struct {
	pod     *Pod
	now     time.Time // whole seconds, as those of the API are
	bound   time.Time // when the Pod was first seen on the node
	jobTime time.Duration
	hostIP  string
	podIP   string    // of a Pod that has none in its status
	next    time.Time // of the step
}

// crashBackOff is the longest time between two starts of a container, and firstBackOff the first one.
const (
	firstBackOff = 10 * time.Second
	crashBackOff = 5 * time.Minute
)

// step decides.
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

// wholeSecond is a time or the next whole second after it: the API tells no parts of seconds, so nothing happens within one.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

// look has the Pod looked at again at a time, or before.
func (l *lifecycle) look(at time.Time) {
	at = wholeSecond(at)
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
	}
}

// started is a copy of the status with what a Pod has from its start on.
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

// statuses are those of containers, in their order; those that are not there yet wait.
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
		off := false
		all = append(all, ContainerStatus{Name: c.Name, Image: c.Image, Started: &off, State: ContainerState{Waiting: &Waiting{Reason: "PodInitializing"}}})
	}
	return all
}

// containers brings all containers to where they are by now, and the phase and the conditions with them.
func (l *lifecycle) containers(s *PodStatus) {
	policy := l.pod.Spec.RestartPolicy
	initialized := true
	for i := range l.pod.Spec.InitContainers {
		c, is := &l.pod.Spec.InitContainers[i], &s.InitContainerStatuses[i]
		if c.RestartPolicy == "Always" { // a sidecar: the next one starts as soon as it has
			l.advance(c, is, "Always")
			if is.Started == nil || !*is.Started {
				initialized = false
				break
			}
			continue
		}
		initPolicy := policy
		if policy == "Always" {
			initPolicy = "OnFailure" // one that has ended well is not started again
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

// endSidecars ends those that run beside containers that have ended.
func (l *lifecycle) endSidecars(s *PodStatus) {
	for i := range s.InitContainerStatuses {
		l.terminate(&s.InitContainerStatuses[i], 0, "Completed")
	}
}

// advance brings one container to where it is by now: it starts, is ready, ends, waits, and starts again, as often as the
// time that has passed allows.
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

// backOff is how long a container waits before its n-th start after the first one.
func backOff(n int) time.Duration {
	if n <= 1 {
		return 0 // the first one is at once
	}
	return min(firstBackOff<<min(n-2, 10), crashBackOff)
}

// running says whether a container that runs does still, and whether it is ready.
func (l *lifecycle) running(c *Container, is *ContainerStatus, does program) bool {
	start := is.State.Running.StartedAt
	if end := wholeSecond(start.Add(does.runs)); !does.forever {
		if !end.After(l.now) {
			is.State = ContainerState{Terminated: &Terminated{ExitCode: does.code, Reason: reasonOf(does.code), StartedAt: start, FinishedAt: end, ContainerID: is.ContainerID}}
			off := false
			is.Ready, is.Started = false, &off
			return false
		}
		l.look(end)
	}
	after, never := readyTime(l.pod, c)
	ready := start.Add(after)
	on := !never || c.StartupProbe == nil
	is.Ready = !never && !ready.After(l.now)
	is.Started = &on
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

// terminate ends a container that runs.
func (l *lifecycle) terminate(is *ContainerStatus, code int, reason string) {
	off := false
	if r := is.State.Running; r != nil {
		is.State = ContainerState{Terminated: &Terminated{ExitCode: code, Reason: reason, StartedAt: r.StartedAt, FinishedAt: l.now, ContainerID: is.ContainerID}}
	}
	is.Ready, is.Started = false, &off
}

// end ends all containers that run.
func (l *lifecycle) end(s *PodStatus, code int, reason string) {
	for _, list := range [][]ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			l.terminate(&list[i], code, reason)
		}
	}
}

// stop ends a Pod that is being deleted. Its containers end as by the signal to terminate, for which they take the time of
// an annotation, or sleep before that as their hooks say, but no more than the grace period; only then is the Pod removed.
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
		return step{remove: grace > 0} // else it goes by itself, with its last finalizer
	}
	s := l.started()
	l.end(s, terminatedCode, "Error")
	s.Phase = failed
	l.conditions(s, "PodFailed")
	return step{status: s}
}

// terminatedCode is that of a process which the signal to terminate has ended.
const terminatedCode = 143

// conditions puts the conditions that follow from the containers. reason is that of a Pod that is not ready because it
// has ended.
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
	condition("PodScheduled", true, "", "") // kubelets say of it, too, which generation they have seen
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

// condition puts one condition. Its time changes with its status only.
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

// changed is a status if it says anything else than that of the Pod; else nil.
func (l *lifecycle) changed(s *PodStatus) *PodStatus {
	if sameJSON(s, &l.pod.Status) {
		return nil
	}
	return s
}

// sameJSON compares what two statuses say, to the second.
func sameJSON(a, b *PodStatus) bool {
	one, err := json.Marshal(a)
	other, fault := json.Marshal(b)
	return err == nil && fault == nil && bytes.Equal(one, other)
}

// nodeConditions are the conditions of Pods that nodes write. The others are those of somebody else.
var nodeConditions = []string{"PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"}

// statusPatch is the patch that writes a status, for the Pod with this uid only.
func statusPatch(uid string, s PodStatus) any {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c Condition) bool { return !slices.Contains(nodeConditions, c.Type) })
	return map[string]any{"metadata": map[string]any{"uid": uid}, "status": s}
}
