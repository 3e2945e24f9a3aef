package table

import (
	"cmp"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// A podSummary contains the values of several columns of a Pod, computed in one pass. As in
// kubectl, "Init:1/3", "CrashLoopBackOff", "Completed" and "NotReady" are derived from the
// containers. Users and scripts rely on these rules.
type podSummary struct {
	phase, reason    string
	ready, total     int
	restarts         int64
	lastRestart      time.Time
	initContainers   int
	restartableInits map[string]bool // init containers that keep running (sidecars)
}

// summary returns the Pod's cached summary. The reason defaults to the phase. It is overridden, in
// this order, by the Pod's reason, a scheduling gate, init containers, containers and deletion.
func (r *row) summary() *podSummary {
	if r.pod != nil {
		return r.pod
	}
	spec, status := r.json.Field("spec"), r.json.Field("status")
	s := &podSummary{phase: status.Field("phase").Text()}
	r.pod = s
	s.reason = s.phase
	if why := status.Field("reason").Text(); why != "" {
		s.reason = why
	}
	conditions := status.Field("conditions")
	if condition(conditions, "PodScheduled").Field("reason").Text() == "SchedulingGated" {
		s.reason = "SchedulingGated"
	}
	s.total = spec.Field("containers").Count()
	s.countInits(spec.Field("initContainers"))
	initializing, sidecars := s.addInits(status.Field("initContainerStatuses"))
	if !initializing || conditionTrue(conditions, "Initialized") {
		s.restarts, s.lastRestart = sidecars.restarts, sidecars.lastRestart
		s.addContainers(status.Field("containerStatuses"), conditionTrue(conditions, "Ready"))
	}
	if r.object.Meta.Terminating {
		switch {
		case status.Field("reason").Text() == "NodeLost":
			s.reason = "Unknown"
		case s.phase != "Succeeded" && s.phase != "Failed":
			s.reason = "Terminating"
		}
	}
	return s
}

func condition(conditions jsontext.Value, kind string) jsontext.Value {
	for c := range conditions.Items {
		if c.Field("type").Text() == kind {
			return c
		}
	}
	return nil
}

func conditionTrue(conditions jsontext.Value, kind string) bool {
	return condition(conditions, kind).Field("status").Text() == "True"
}

// countInits counts the init containers. One with restartPolicy Always is a sidecar, which counts
// as a container in ready/total.
func (s *podSummary) countInits(inits jsontext.Value) {
	for c := range inits.Items {
		s.initContainers++
		if c.Field("restartPolicy").Text() == "Always" {
			if s.restartableInits == nil {
				s.restartableInits = map[string]bool{}
			}
			s.restartableInits[c.Field("name").Text()] = true
			s.total++
		}
	}
}

func (s *podSummary) addRestarts(c jsontext.Value) {
	s.restarts += c.Field("restartCount").Int()
	at, err := time.Parse(time.RFC3339, c.At("lastState.terminated.finishedAt").Text())
	if err == nil && at.After(s.lastRestart) {
		s.lastRestart = at
	}
}

// addInits processes the init containers up to the first unfinished one, which determines the
// reason. initializing is false if all have finished. sidecars contains only the sidecars'
// restarts.
func (s *podSummary) addInits(statuses jsontext.Value) (initializing bool, sidecars podSummary) {
	i := -1
	for c := range statuses.Items {
		i++
		s.addRestarts(c)
		restartable := s.restartableInits[c.Field("name").Text()]
		if restartable {
			sidecars.addRestarts(c)
		}
		ended, waiting := c.At("state.terminated"), c.At("state.waiting.reason").Text()
		switch {
		case ended.Exists() && ended.Field("exitCode").Int() == 0:
			continue
		case restartable && c.Field("started").IsTrue():
			if c.Field("ready").IsTrue() {
				s.ready++
			}
			continue
		case ended.Exists():
			s.reason = "Init:" + terminationReason(ended)
		case waiting != "" && waiting != "PodInitializing":
			s.reason = "Init:" + waiting
		default:
			s.reason = "Init:" + strconv.Itoa(i) + "/" + strconv.Itoa(s.initContainers)
		}
		initializing = true
		break
	}
	return initializing, sidecars
}

func terminationReason(ended jsontext.Value) string {
	if why := ended.Field("reason").Text(); why != "" {
		return why
	}
	if n := ended.Field("signal").Int(); n != 0 {
		return "Signal:" + strconv.FormatInt(n, 10)
	}
	return "ExitCode:" + strconv.FormatInt(ended.Field("exitCode").Int(), 10)
}

// addContainers processes the containers. The first failed or waiting container determines the
// reason. A Pod with both a completed and a running container is not Completed.
func (s *podSummary) addContainers(statuses jsontext.Value, podReady bool) {
	running, why := false, ""
	for c := range statuses.Items {
		s.addRestarts(c)
		ended, waiting := c.At("state.terminated"), c.At("state.waiting.reason").Text()
		trouble := ""
		switch {
		case waiting != "":
			trouble = waiting
		case ended.Exists():
			trouble = terminationReason(ended)
		case c.Field("ready").IsTrue() && c.At("state.running").Exists():
			running = true
			s.ready++
		}
		if why == "" {
			why = trouble
		}
	}
	if why != "" {
		s.reason = why
	}
	if s.reason == "Completed" && running {
		if s.reason = "NotReady"; podReady {
			s.reason = "Running"
		}
	}
}

// appendConditions marks the rows of finished Pods, so that clients can hide or dim them.
func (s *podSummary) appendConditions(b []byte) []byte {
	switch s.phase {
	case "Succeeded":
		return append(b, `,"conditions":[{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}]`...)
	case "Failed":
		return append(b, `,"conditions":[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}]`...)
	}
	return b
}

func showPodReady(r *row, _ string) string {
	s := r.summary()
	return strconv.Itoa(s.ready) + "/" + strconv.Itoa(s.total)
}

func showPodStatus(r *row, _ string) string {
	return r.summary().reason
}

func showPodRestarts(r *row, _ string) string {
	s := r.summary()
	text := strconv.FormatInt(s.restarts, 10)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		text += " (" + HumanDuration(r.now.Sub(s.lastRestart)) + " ago)"
	}
	return text
}

// showPodIP shows the first address, which has the preferred IP family.
func showPodIP(r *row, _ string) string {
	status := r.json.Field("status")
	ip := ""
	for p := range status.Field("podIPs").Items {
		ip = p.Field("ip").Text()
		break
	}
	if ip == "" {
		ip = status.Field("podIP").Text()
	}
	return cmp.Or(ip, none)
}

func showPodGates(r *row, _ string) string {
	met, all := 0, 0
	conditions := r.json.At("status.conditions")
	for g := range r.json.At("spec.readinessGates").Items {
		all++
		if conditionTrue(conditions, g.Field("conditionType").Text()) {
			met++
		}
	}
	if all == 0 {
		return none
	}
	return strconv.Itoa(met) + "/" + strconv.Itoa(all)
}

func showPodGroupStatus(r *row, _ string) string {
	conditions, text := r.json.At("status.conditions"), "Pending"
	if c := condition(conditions, "PodGroupInitiallyScheduled"); c != nil {
		text = "Unschedulable"
		if c.Field("status").Text() == "True" {
			text = "Scheduled"
		}
	}
	if c := condition(conditions, "DisruptionTarget"); c != nil {
		text = c.Field("reason").Text()
	}
	return text
}
