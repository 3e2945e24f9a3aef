package flowcontrol

import (
	"maps"
	"math"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A configuration is what decides about requests. It never changes, but for the state of its levels.
type configuration struct {
	*classifier
	bounds []*bound
	levels map[string]*level
}

// anyUndesired tells whether a level only serves what it has let in.
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

// fixed are the mandatory schemas and levels, for as long as they do not exist as objects.
type fixed struct {
	schemas map[string]*schema
	levels  map[string]levelSpec
}

// newFixed parses the mandatory objects. They have no uid, which tells that they do not exist.
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

// configure puts into effect what the objects say. c.mu is held.
//
// A level that is not configured any longer goes in a second round, when no new request finds it: who found it before is
// told to look again.
func (c *Controller) configure() {
	c.rebuild()
	if c.current.Load().anyUndesired() {
		c.rebuild()
	}
	c.adjust()
}

// rebuild makes the next configuration and puts it in the place of the current one. c.mu is held. Levels are taken
// over with their state, so requests that wait notice nothing; those that are classified meanwhile use the old one.
func (c *Controller) rebuild() {
	next := &configuration{levels: c.newLevels()}
	c.divide(next.levels)
	next.bounds = c.bind(next.levels)
	next.classifier = newClassifier(next.bounds)
	c.current.Store(next)
	next.dropStats()
}

// newLevels are those that are configured, and those that still serve somebody. Objects count before what is fixed.
// Levels are told apart by their names, so one that is deleted and made again at once keeps its queues.
func (c *Controller) newLevels() map[string]*level {
	levels, old := map[string]*level{}, c.current.Load().levels
	specs := maps.Clone(c.fixed.levels)
	maps.Copy(specs, c.specs)
	for name, spec := range specs {
		l := old[name]
		if l == nil {
			l = newLevel(spec, &c.clock)
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

// retire takes a level that is configured no longer out of service: at the second time, if it serves nobody. It tells
// whether the level stays. A request that was classified by the configuration before may come between the two times,
// which makes the level serve somebody again.
func (l *level) retire() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed = l.undesired && l.idle()
	l.undesired = true
	return !l.removed
}

// divide gives each level its part of the seats, rounded up. Those that are about to go keep theirs until then.
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

// setBounds sets how many seats a level has by its shares, and between which bounds it may have more or fewer. A new
// level begins with half of what it could lend. The limit of a level that exists is left to adjust.
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

// percent is a percentage of n, to the next whole number.
func percent(n, of int) int { return round(float64(n) * float64(of) / 100) }

// most is how many seats one request may have at a level: a part of what the level has, and never so many that one flow's
// requests could take all.
func (l *level) most() int {
	if l.spec.queues == 0 {
		return maxSeats
	}
	part := math.Ceil(0.15 * float64(l.nominal))
	return min(maxSeats, max(1, min(int(part), l.nominal/max(l.spec.handSize, 1))))
}

// bind joins the schemas with their levels. A schema without one is left out. Its requests then go to whatever else
// they match, at last to catch-all. The mandatory levels are always there.
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

// dropStats forgets the figures of schemas that are gone. Those of requests that are still at a level stay, as their
// counters are lowered when they end.
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
