package simulation

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Annotations that define the behavior of a Pod's containers, with defaults in brackets. Durations
// use Go syntax.
const (
	startAfter = "troupe/start-after" // from binding to start [0s]
	readyAfter = "troupe/ready-after" // from a container's start until it is ready [0s]
	exitAfter  = "troupe/exit-after"  // from a container's start to its end [never]
	exitCode   = "troupe/exit-code"   // exit code of containers that end [0]
	stopAfter  = "troupe/stop-after"  // from termination to a container's end, at most the grace period [0s]
	logText    = "troupe/logs"        // output of containers at their start
)

// A program is the behavior of a container. It writes lines, and then ends after some time or runs
// forever.
type program struct {
	lines   []string
	forever bool
	runs    time.Duration
	code    int
}

// programOf returns the program of a container, which annotations or a known command define. By
// default, a Job's container succeeds after jobTime, an init container succeeds immediately, and
// any other container runs forever.
func programOf(p *Pod, c *Container, jobTime time.Duration) program {
	var is program
	notes := p.Metadata.Annotations
	if text, ok := notes[logText]; ok {
		is.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	_, ends := notes[exitAfter]
	_, code := notes[exitCode]
	if ends || code {
		is.runs = duration(notes, exitAfter)
		is.code, _ = strconv.Atoi(notes[exitCode]) // 0 if invalid
		return is
	}
	if r, known := interpret(slices.Concat(c.Command, c.Args), environment(p, c), nil); known {
		return program{append(is.lines, r.lines()...), r.forever, r.slept, r.code}
	}
	switch image := c.Image[strings.LastIndexByte(c.Image, '/')+1:]; {
	case strings.HasPrefix(image, "pause:"), image == "pause":
		is.forever = true // pause containers run forever
	case p.initializes(c):
	case p.ofJob():
		is.runs = jobTime
	default:
		is.forever = true
	}
	return is
}

func duration(annotations map[string]string, name string) time.Duration {
	d, err := time.ParseDuration(annotations[name])
	if err != nil {
		return 0
	}
	return max(d, 0)
}

func environment(p *Pod, c *Container) map[string]string {
	all := map[string]string{"HOSTNAME": p.Metadata.Name}
	for _, e := range c.Env {
		all[e.Name] = e.Value
	}
	return all
}

// readyTime returns the time from a container's start until the container is ready. never is true
// if a probe always fails.
func readyTime(p *Pod, c *Container) (after time.Duration, never bool) {
	after = duration(p.Metadata.Annotations, readyAfter)
	for _, probe := range []*Probe{c.StartupProbe, c.ReadinessProbe} {
		if probe == nil {
			continue
		}
		after = max(after, time.Duration(probe.InitialDelaySeconds)*time.Second)
		if probe.Exec != nil {
			if r, known := interpret(probe.Exec.Command, environment(p, c), nil); known && r.code != 0 {
				never = true
			}
		}
	}
	return after, never
}
