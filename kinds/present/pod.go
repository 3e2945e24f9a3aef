package present

import (
	"strconv"
	"time"
)

// A podSummary is what the columns of a Pod tell of its containers.
type podSummary struct {
	phase, reason    string
	ready, total     int
	restarts         int64
	lastRestart      time.Time
	initContainers   int
	restartableInits map[string]bool // init containers that keep running beside the others
}

// summary makes the summary of the row's Pod, once.
func (r *row) summary() *podSummary {
	if r.pod != nil {
		return r.pod
	}
	spec, status := r.json.field("spec"), r.json.field("status")
	s := &podSummary{phase: status.field("phase").text()}
	r.pod = s
	s.reason = s.phase
	if why := status.field("reason").text(); why != "" {
		s.reason = why
	}
	conditions := status.field("conditions")
	if condition(conditions, "PodScheduled").field("reason").text() == "SchedulingGated" {
		s.reason = "SchedulingGated"
	}
	s.total = spec.field("containers").count()
	s.countInits(spec.field("initContainers"))
	initializing, sidecars := s.addInits(status.field("initContainerStatuses"))
	if !initializing || conditionTrue(conditions, "Initialized") {
		s.restarts, s.lastRestart = sidecars.restarts, sidecars.lastRestart
		s.addContainers(status.field("containerStatuses"), conditionTrue(conditions, "Ready"))
	}
	if r.object.Meta.Terminating {
		switch {
		case status.field("reason").text() == "NodeLost":
			s.reason = "Unknown"
		case s.phase != "Succeeded" && s.phase != "Failed":
			s.reason = "Terminating"
		}
	}
	return s
}

// condition is the condition of that type.
func condition(conditions value, kind string) (found value) {
	conditions.items(func(c value) bool {
		if c.field("type").text() == kind {
			found = c
		}
		return found == nil
	})
	return found
}

func conditionTrue(conditions value, kind string) bool {
	return condition(conditions, kind).field("status").text() == "True"
}

func (s *podSummary) countInits(inits value) {
	inits.items(func(c value) bool {
		s.initContainers++
		if c.field("restartPolicy").text() == "Always" {
			if s.restartableInits == nil {
				s.restartableInits = map[string]bool{}
			}
			s.restartableInits[c.field("name").text()] = true
			s.total++
		}
		return true
	})
}

// addRestarts adds those of one container.
func (s *podSummary) addRestarts(c value) {
	s.restarts += c.field("restartCount").number()
	at, err := time.Parse(time.RFC3339, c.at("lastState.terminated.finishedAt").text())
	if err == nil && at.After(s.lastRestart) {
		s.lastRestart = at
	}
}

// addInits goes over the init containers up to the first that is not done. It reports
// whether there is one, and the restarts of those that keep running.
func (s *podSummary) addInits(statuses value) (initializing bool, sidecars podSummary) {
	i := -1
	statuses.items(func(c value) bool {
		i++
		s.addRestarts(c)
		restartable := s.restartableInits[c.field("name").text()]
		if restartable {
			sidecars.addRestarts(c)
		}
		ended, waiting := c.at("state.terminated"), c.at("state.waiting.reason").text()
		switch {
		case ended.exists() && ended.field("exitCode").number() == 0:
			return true
		case restartable && c.field("started").isTrue():
			if c.field("ready").isTrue() {
				s.ready++
			}
			return true
		case ended.exists():
			s.reason = "Init:" + terminationReason(ended)
		case waiting != "" && waiting != "PodInitializing":
			s.reason = "Init:" + waiting
		default:
			s.reason = "Init:" + strconv.Itoa(i) + "/" + strconv.Itoa(s.initContainers)
		}
		initializing = true
		return false
	})
	return initializing, sidecars
}

// terminationReason says why a container ended.
func terminationReason(ended value) string {
	if why := ended.field("reason").text(); why != "" {
		return why
	}
	if n := ended.field("signal").number(); n != 0 {
		return "Signal:" + strconv.FormatInt(n, 10)
	}
	return "ExitCode:" + strconv.FormatInt(ended.field("exitCode").number(), 10)
}

// addContainers goes over the containers; the first of those in trouble gives the reason.
func (s *podSummary) addContainers(statuses value, podReady bool) {
	running, why := false, ""
	statuses.items(func(c value) bool {
		s.addRestarts(c)
		ended, waiting := c.at("state.terminated"), c.at("state.waiting.reason").text()
		trouble := ""
		switch {
		case waiting != "":
			trouble = waiting
		case ended.exists():
			trouble = terminationReason(ended)
		case c.field("ready").isTrue() && c.at("state.running").exists():
			running = true
			s.ready++
		}
		if why == "" {
			why = trouble
		}
		return true
	})
	if why != "" {
		s.reason = why
	}
	if s.reason == "Completed" && running {
		if s.reason = "NotReady"; podReady {
			s.reason = "Running"
		}
	}
}

// appendConditions marks rows of Pods that have ended.
func (s *podSummary) appendConditions(b []byte) []byte {
	switch s.phase {
	case "Succeeded":
		return append(b, `,"conditions":[{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}]`...)
	case "Failed":
		return append(b, `,"conditions":[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}]`...)
	}
	return b
}

func showPodReady(b []byte, r *row, _ string) []byte {
	s := r.summary()
	b = append(b, '"')
	b = strconv.AppendInt(b, int64(s.ready), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(s.total), 10)
	return append(b, '"')
}

func showPodStatus(b []byte, r *row, _ string) []byte { return appendText(b, r.summary().reason) }

func showPodRestarts(b []byte, r *row, _ string) []byte {
	s := r.summary()
	text := strconv.FormatInt(s.restarts, 10)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		text += " (" + humanDuration(r.now.Sub(s.lastRestart)) + " ago)"
	}
	return appendText(b, text)
}

func showPodIP(b []byte, r *row, _ string) []byte {
	status := r.json.field("status")
	ip := ""
	status.field("podIPs").items(func(p value) bool {
		ip = p.field("ip").text()
		return false
	})
	if ip == "" {
		ip = status.field("podIP").text()
	}
	return appendOr(b, ip, none)
}

func showPodGates(b []byte, r *row, _ string) []byte {
	met, all := 0, 0
	conditions := r.json.at("status.conditions")
	r.json.at("spec.readinessGates").items(func(g value) bool {
		all++
		if conditionTrue(conditions, g.field("conditionType").text()) {
			met++
		}
		return true
	})
	if all == 0 {
		return appendText(b, none)
	}
	return appendText(b, strconv.Itoa(met)+"/"+strconv.Itoa(all))
}
