package simulation

import (
	"strconv"
	"strings"
	"time"
)

// Annotations of a Pod that say what its containers do. Durations are written as in "1m30s".
const (
	startAfter = "troupe/start-after" // from the binding to the start [0s]
	readyAfter = "troupe/ready-after" // from the start of a container until it is ready [0s]
	exitAfter  = "troupe/exit-after"  // from the start of a container to its end [never]
	exitCode   = "troupe/exit-code"   // of a container that ends [0]
	stopAfter  = "troupe/stop-after"  // from the order to end until a container ends, within its grace period [0s]
	logText    = "troupe/logs"        // what containers write when they start
)

// A program is what a container does: it writes lines, and ends after a time with a code, or runs for ever.
type program struct {
	lines   []string
	forever bool
	runs    time.Duration
	code    int
}

// programOf is what a container of a Pod does: what the annotations of the Pod say, else what its command says where
// that is one of the few that are known, else it ends well after jobTime in a Pod of a Job, and runs for ever in any
// other.
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
		is.code, _ = strconv.Atoi(notes[exitCode]) // what is no number is 0
		return is
	}
	if r, known := interpret(append(append([]string{}, c.Command...), c.Args...), environment(p, c), nil); known {
		return program{append(is.lines, r.lines()...), r.forever, r.slept, r.code}
	}
	switch image := c.Image[strings.LastIndexByte(c.Image, '/')+1:]; {
	case strings.HasPrefix(image, "pause:"), image == "pause":
		is.forever = true // it does nothing else
	case p.initializes(c):
	case p.ofJob():
		is.runs = jobTime
	default:
		is.forever = true
	}
	return is
}

// duration is that of an annotation; what cannot be read, or is below 0, is 0.
func duration(annotations map[string]string, name string) time.Duration {
	d, err := time.ParseDuration(annotations[name])
	if err != nil {
		return 0
	}
	return max(d, 0)
}

// environment is what a command in a container may ask for.
func environment(p *Pod, c *Container) map[string]string {
	all := map[string]string{"HOSTNAME": p.Metadata.Name}
	for _, e := range c.Env {
		all[e.Name] = e.Value
	}
	return all
}

// readyTime is after how long a container that has started is ready; never says that its probe fails.
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
