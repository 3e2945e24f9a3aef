package autoscaler

import (
	"errors"
	"math"
	"time"
)

// sample is a metric's value for one Pod, measured over a window that ends at the given time.
type sample struct {
	value  int64
	at     time.Time
	window time.Duration
}

type samples map[string]sample

// tolerance is how far the ratio of a metric to its target may be below or above 1 without
// triggering scaling.
type tolerance struct{ down, up float64 }

func (t tolerance) allows(ratio float64) bool { return 1-t.down <= ratio && ratio <= 1+t.up }

// A usage summarizes the samples of a metric: the ratio to the target, the percentage of the
// resource requests, and the average per Pod.
type usage struct {
	ratio   float64
	percent int64
	average int64
}

// calculation computes the desired replicas for one per-Pod metric.
type calculation struct {
	current   int64 // replicas
	pods      []pod
	resource  string // "" for other metrics
	tolerance tolerance
	options   Options
	now       time.Time

	measure func(samples) (usage, error)
	// assumed returns the value assumed for a Pod without a sample when scaling down.
	assumed func(name string) int64
}

var (
	errNoPods    = errors.New("no pods returned by selector while calculating replica count")
	errNoSamples = errors.New("did not receive metrics for targeted pods (pods might be unready)")
	errDisjoint  = errors.New("no metrics returned matched known pods")
)

type grouping struct {
	ready   int64
	unready []string // pending or starting
	missing []string // without a sample
}

// group classifies the Pods. It removes the samples of ignored and unready Pods from m.
func (c *calculation) group(m samples) (g grouping) {
	for _, p := range c.pods {
		name := p.name()
		s, found := m[name]
		switch {
		case p.ignored():
			delete(m, name)
		case p.Object("status").String("phase") == "Pending", found && c.resource == "cpu" && p.starting(s, c.options, c.now):
			g.unready = append(g.unready, name)
			delete(m, name)
		case !found:
			g.missing = append(g.missing, name)
		default:
			g.ready++
		}
	}
	return g
}

// replicas returns the desired number of replicas, and the measured usage for the status. It
// modifies m.
func (c *calculation) replicas(m samples) (int64, usage, error) {
	if len(c.pods) == 0 {
		return 0, usage{}, errNoPods
	}
	g := c.group(m)
	if len(m) == 0 {
		return 0, usage{}, errNoSamples
	}
	seen, err := c.measure(m)
	if err != nil {
		return 0, usage{}, err
	}
	grows := seen.ratio > 1
	if len(g.missing) == 0 && !(grows && len(g.unready) > 0) {
		if c.tolerance.allows(seen.ratio) {
			return c.current, seen, nil
		}
		return ceil(seen.ratio * float64(g.ready)), seen, nil
	}
	c.assume(m, g, seen.ratio)
	assumed, err := c.measure(m)
	if err != nil {
		return 0, seen, err
	}
	proposed := ceil(assumed.ratio * float64(len(m)))
	turned := seen.ratio < 1 && assumed.ratio > 1 || grows && assumed.ratio < 1 ||
		assumed.ratio < 1 && proposed > c.current || assumed.ratio > 1 && proposed < c.current
	if c.tolerance.allows(assumed.ratio) || turned {
		return c.current, seen, nil
	}
	return proposed, seen, nil
}

// assume adds assumed samples for Pods without one, so that the replica count changes less.
func (c *calculation) assume(m samples, g grouping, ratio float64) {
	for _, name := range g.missing {
		switch {
		case ratio < 1:
			m[name] = sample{value: c.assumed(name)}
		case ratio > 1:
			m[name] = sample{}
		}
	}
	if ratio > 1 {
		for _, name := range g.unready {
			m[name] = sample{}
		}
	}
}

func (c *calculation) utilization(target int64, container string) error {
	requests := map[string]int64{}
	for _, p := range c.pods {
		n, err := p.request(c.resource, container)
		if err != nil {
			return err
		}
		requests[p.name()] = n
	}
	c.assumed = func(name string) int64 { return requests[name] * max(100, target) / 100 }
	c.measure = func(m samples) (usage, error) {
		var used, asked, n int64
		for name, s := range m {
			if request, known := requests[name]; known {
				used, asked, n = used+s.value, asked+request, n+1
			}
		}
		if asked == 0 {
			return usage{}, errDisjoint
		}
		percent := used * 100 / asked
		return usage{ratio: float64(percent) / float64(target), percent: percent, average: used / n}, nil
	}
	return nil
}

func (c *calculation) average(target int64) {
	c.assumed = func(string) int64 { return target }
	c.measure = func(m samples) (usage, error) {
		var used int64
		for _, s := range m {
			used += s.value
		}
		n := used / int64(len(m))
		return usage{ratio: float64(n) / float64(target), average: n}, nil
	}
}

// forValue returns the desired replicas for a metric of the target as a whole: the number of ready
// Pods multiplied by the ratio of value to target.
func (c *calculation) forValue(value, target int64) (int64, error) {
	ratio := float64(value) / float64(target)
	if c.current == 0 {
		return ceil(ratio), nil
	}
	if c.tolerance.allows(ratio) {
		return c.current, nil
	}
	if len(c.pods) == 0 {
		return 0, errNoPods
	}
	ready := 0
	for _, p := range c.pods {
		if p.ready() {
			ready++
		}
	}
	return ceil(ratio * float64(ready)), nil
}

// forShare returns the number of replicas at which the value per replica is at most target, or the
// current number if the deviation is within the tolerance.
func forShare(value, target, replicas int64, t tolerance) (proposed, share int64) {
	proposed = replicas
	if ratio := float64(value) / (float64(target) * float64(replicas)); !t.allows(ratio) {
		proposed = ceil(float64(value) / float64(target))
	}
	if replicas == 0 {
		return proposed, 0
	}
	return proposed, ceil64(float64(value) / float64(replicas))
}

func ceil(f float64) int64 { return min(ceil64(f), math.MaxInt32) }

// ceil64 rounds up. It returns math.MaxInt64 for NaN and on overflow.
func ceil64(f float64) int64 {
	if f = math.Ceil(f); f < math.MaxInt64 {
		return int64(f)
	}
	return math.MaxInt64
}
