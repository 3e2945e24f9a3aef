package flowcontrol

import (
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A configuration is immutable except for the state of its levels.
type configuration struct {
	*classifier
	bounds []*bound
	levels map[string]*level
}

func (c *configuration) anyUndesired() bool {
	for _, l := range c.levels {
		l.mu.Lock()
		undesired := l.undesired
		l.mu.Unlock()
		if undesired {
			return true
		}
	}
	return false
}

// fixed holds the mandatory schemas and levels. Stored objects with the same names override them.
type fixed struct {
	schemas map[string]*schema
	levels  map[string]levelSpec
}

// newFixed parses the mandatory objects. An empty UID marks objects that are not stored.
func newFixed(n *meta.Naming) fixed {
	f := fixed{map[string]*schema{}, map[string]levelSpec{}}
	for _, o := range flowcontrol.FlowSchemas(n) {
		if o.Mandatory {
			f.schemas[o.Name] = parseSchema(o.Name, "", o.Spec)
		}
	}
	for _, o := range flowcontrol.PriorityLevels() {
		if o.Mandatory {
			f.levels[o.Name] = parseLevel(o.Name, "", o.Spec)
		}
	}
	return f
}

// configure applies the current objects. The caller holds c.mu.
// Removing a level takes two rebuilds: after the first, new requests no longer find the level, so
// the second can drop an idle level.
func (c *Controller) configure() {
	c.rebuild()
	if c.current.Load().anyUndesired() {
		c.rebuild()
	}
	c.adjust()
}

// rebuild replaces the configuration, but keeps existing levels and their waiting requests.
// Requests that are being classified still use the old configuration. The caller holds c.mu.
func (c *Controller) rebuild() {
	next := &configuration{levels: c.newLevels()}
	c.divide(next.levels)
	next.bounds = c.bind(next.levels)
	next.classifier = newClassifier(next.bounds)
	c.current.Store(next)
	next.dropStats()
}

// newLevels returns the configured and the draining levels. Objects override fixed levels of the
// same name. A level that is deleted and recreated keeps its queues.
func (c *Controller) newLevels() map[string]*level {
	levels, old := map[string]*level{}, c.current.Load().levels
	specs := maps.Clone(c.fixed.levels)
	maps.Copy(specs, c.specs)
	for name, spec := range specs {
		l := old[name]
		if l == nil {
			l = newLevel(spec, c.epoch)
		}
		l.mu.Lock()
		l.spec, l.undesired = spec, false
		l.mu.Unlock()
		levels[name] = l
	}
	for name, l := range old {
		if levels[name] == nil && l.retire() {
			levels[name] = l
		}
	}
	return levels
}

// retire drains a level that is no longer configured, and reports whether it still exists. It
// removes an idle level only on the second call, because requests classified before the first call
// may still arrive.
func (l *level) retire() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed = l.undesired && l.idle()
	l.undesired = true
	return !l.removed
}

// divide sets the nominal limit of each level: its share of the seats, rounded up. Draining levels
// keep their share.
func (c *Controller) divide(levels map[string]*level) {
	var shares float64
	for _, l := range levels {
		shares += float64(l.spec.shares)
	}
	c.nominals = 0
	for _, l := range levels {
		nominal := 0
		if shares > 0 {
			nominal = int(math.Ceil(float64(c.seats) * float64(l.spec.shares) / shares))
		}
		l.setBounds(nominal, c.seats)
		c.nominals += nominal
	}
}

// setBounds sets the nominal limit and the borrowing bounds. For a new level, it also sets the
// current limit, as if half of the lendable seats were lent. Later, only adjust changes the current
// limit.
func (l *level) setBounds(nominal, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lendable, borrowing := percent(nominal, l.spec.lendable), all
	if l.spec.borrowing >= 0 {
		borrowing = percent(nominal, l.spec.borrowing)
	}
	if l.upper == 0 {
		l.limit = nominal - lendable/2
	}
	l.nominal, l.lower, l.upper = nominal, nominal-lendable, nominal+borrowing
}

func percent(n, of int) int { return round(float64(n) * float64(of) / 100) }

// most returns the maximum number of seats per request. It is a fraction of the level's seats, so
// that one flow cannot occupy all of them.
func (l *level) most() int {
	if l.spec.queues == 0 {
		return maxSeats
	}
	part := math.Ceil(0.15 * float64(l.nominal))
	return min(maxSeats, max(1, min(int(part), l.nominal/max(l.spec.handSize, 1))))
}

// bind assigns each schema its level. It omits schemas whose level does not exist, so that their
// requests match other schemas. The mandatory levels always exist.
func (c *Controller) bind(levels map[string]*level) []*bound {
	schemas := maps.Clone(c.fixed.schemas)
	for name, s := range c.schemas {
		if _, ok := c.specs[s.level]; ok || c.fixed.levels[s.level].name != "" {
			schemas[name] = s
		}
	}
	all := make([]*bound, 0, len(schemas))
	for _, s := range schemas {
		l := levels[s.level]
		l.mu.Lock()
		all = append(all, &bound{schema: s, level: l, most: l.most(), stats: l.statsOf(s.name)})
		l.mu.Unlock()
	}
	return all
}

// dropStats removes the counters of deleted schemas without active requests.
func (c *configuration) dropStats() {
	kept := map[*stats]bool{}
	for _, b := range c.bounds {
		kept[b.stats] = true
	}
	for _, l := range c.levels {
		l.mu.Lock()
		maps.DeleteFunc(l.stats, func(_ string, s *stats) bool { return !kept[s] && !s.busy() })
		l.mu.Unlock()
	}
}
