package scale

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Setup is what is simulated. Writes come from Clients that each send the next one when the last is answered or, without
// any, at a Rate.
type Setup struct {
	Name       string
	Daemons    int
	Etcds      int     // 0: each daemon has a store on its own disk
	Apart      bool    // each etcd has as many Daemons of its own, which follow no other
	OneMachine bool    // clients, daemons and etcds share it, as under the bench; writes at a Rate come evenly then
	Processors int     // of each machine
	RoundTrip  float64 // between two machines
	Largest    float64 // share of the first etcd in all writes; the others have equal parts of the rest
	Watchers   float64 // that an event reaches on each daemon that follows it
	Clients    int
	Rate       float64
}

// Outcome is what came of it.
type Outcome struct {
	Rate       float64 // writes answered
	P50, P99   float64
	Batch      float64 // writes of a commit, on the mean
	Daemon     float64 // processors that the busiest daemon keeps busy
	Etcd       float64 // the busiest etcd
	Applied    float64 // events a second that the busiest daemon applies
	Usages     []Usage // the busiest of each sort, as a share of what it can do
	Overloaded bool    // more came than was answered
}

// Usage is how busy something is.
type Usage struct {
	What  string
	Share float64
}

// Busiest is what comes to its end first.
func (o Outcome) Busiest() Usage {
	return slices.MaxFunc(o.Usages, func(a, b Usage) int { return int(math.Copysign(1, a.Share-b.Share)) })
}

// A run lasts for so many writes, or so many seconds of writes at its rate, whichever is more. The first part of it counts for nothing. As
// many open writes as come in a quarter of that say that it will get no better.
const (
	leastWrites  = 10_000
	leastSeconds = 0.5
	warmUp       = 1. / 6
	mostOpen     = 1. / 4
)

type simulation struct {
	clock
	Parameters
	Setup
	random    *rand.Rand
	clients   *machine
	daemons   []*daemon
	etcds     []*etcd
	stores    int
	writes    int // of the run
	sent      int
	open      int
	begun     float64 // when the warm-up was over
	latencies []float64
}

// daemon is one, with what it has for each store that it follows; nil for others.
type daemon struct {
	*machine
	committers []*committer
	followers  []*worker
	applied    int
}

// committer has one commit under way. waiting are the times at which writes were sent.
type committer struct {
	daemon          *daemon
	store           int
	waiting         []float64
	committing      bool
	batches, writes int
	spent           float64 // with a commit under way
}

// etcd is a store of its own. waiting is what follows the next sync.
type etcd struct {
	*machine
	applier *worker
	waiting []func()
	syncing bool
}

// Simulate runs a setup until enough writes were answered, or too many wait.
func Simulate(p Parameters, setup Setup, seed uint64) Outcome {
	s := &simulation{Parameters: p, Setup: setup, random: rand.New(rand.NewPCG(seed, 0))}
	s.writes = max(leastWrites, int(leastSeconds*setup.Rate))
	s.build()
	if setup.Clients > 0 {
		for range setup.Clients {
			s.send()
		}
	} else {
		s.arrive()
	}
	for len(s.latencies) < s.writes && !s.overloaded() && s.step() {
	}
	return s.outcome()
}

func (s *simulation) warmUp() int { return int(warmUp * float64(s.writes)) }

func (s *simulation) overloaded() bool {
	return float64(s.open) > mostOpen*float64(s.writes)
}

func (s *simulation) build() {
	newMachine := func() *machine { return &machine{clock: &s.clock, processors: s.Processors, left: 1} }
	if s.OneMachine {
		shared := newMachine()
		shared.left = s.cost().Left
		newMachine = func() *machine { return shared }
		s.clients = shared
	}
	groups := 1
	if s.stores = max(1, s.Etcds); s.Apart {
		groups = s.stores
	}
	for range s.Etcds {
		m := newMachine()
		s.etcds = append(s.etcds, &etcd{machine: m, applier: &worker{machine: m}})
	}
	for i := range s.Daemons * groups {
		d := &daemon{machine: newMachine(), committers: make([]*committer, s.stores), followers: make([]*worker, s.stores)}
		for store := range s.stores {
			if groups == 1 || store == i%groups {
				d.committers[store] = &committer{daemon: d, store: store}
				d.followers[store] = &worker{machine: d.machine}
			}
		}
		s.daemons = append(s.daemons, d)
	}
}

// arrive sends a write, and plans the next one.
func (s *simulation) arrive() {
	s.send()
	gap := 1e6 / s.Rate
	if !s.OneMachine {
		gap *= s.random.ExpFloat64()
	}
	s.after(gap, s.arrive)
}

// send sends one write to one of the daemons that have its store.
func (s *simulation) send() {
	store := 0
	if s.stores > 1 && s.random.Float64() >= s.Largest {
		store = 1 + s.random.IntN(s.stores-1)
	}
	d := s.daemons[s.sent%len(s.daemons)]
	if s.Apart {
		d = s.daemons[s.random.IntN(s.Setup.Daemons)*s.stores+store]
	}
	s.sent++
	s.open++
	began := s.now
	accept := func() {
		d.run(s.varied(s.cost().Write*s.Before), func() { s.gather(d.committers[store], began) })
	}
	if s.clients == nil {
		s.after(s.RoundTrip/2, accept)
		return
	}
	s.clients.run(s.varied(s.Client/2), accept)
}

// answer ends a write. A client sends the next one at once.
func (s *simulation) answer(began float64) {
	done := func() {
		s.open--
		if s.latencies = append(s.latencies, s.now-began); len(s.latencies) == s.warmUp() {
			s.begin()
		}
		if s.Setup.Clients > 0 {
			s.send()
		}
	}
	if s.clients == nil {
		s.after(s.RoundTrip/2, done)
		return
	}
	s.clients.run(s.varied(s.Client/2), done)
}

// gather makes a write wait for the next commit, which begins at once if none is under way.
func (s *simulation) gather(c *committer, began float64) {
	if c.waiting = append(c.waiting, began); !c.committing {
		s.commit(c)
	}
}

func (s *simulation) commit(c *committer) {
	n := min(len(c.waiting), s.cost().MostInBatch)
	batch, start := slices.Clone(c.waiting[:n]), s.now
	c.waiting, c.committing = c.waiting[n:], true
	c.batches, c.writes = c.batches+1, c.writes+n
	settled := func() {
		c.spent += s.now - start
		c.committing = false
		if len(c.waiting) > 0 {
			s.commit(c)
		}
		for _, began := range batch {
			s.answer(began)
		}
	}
	s.overhead(c.daemon.machine, s.cost().Batch, 0, func() {
		if s.Etcds == 0 {
			s.after(s.sync(), func() { s.publish(c.daemon, c.store, n, s.cost().Write*(1-s.Before), settled) })
			return
		}
		s.after(s.RoundTrip/2, func() { s.propose(c, n, settled) })
	})
}

// propose puts a commit into the next sync of its etcd, and hands it out when it is applied.
func (s *simulation) propose(c *committer, n int, settled func()) {
	e, server := s.etcds[c.store], float64(n)*s.cost().EtcdWrite
	tell := func() {
		for _, d := range s.daemons {
			switch {
			case d == c.daemon:
				s.after(s.RoundTrip/2, func() { s.publish(d, c.store, n, s.cost().Write*(1-s.Before), settled) })
			case d.followers[c.store] != nil:
				e.run(float64(n)*s.Feed, func() {
					s.after(s.RoundTrip/2, func() { s.publish(d, c.store, n, s.Follow, func() {}) })
				})
			}
		}
	}
	s.overhead(e.machine, s.cost().EtcdBatch, server*(1-s.Serial), func() {
		if e.waiting = append(e.waiting, func() { e.applier.do(server*s.Serial, tell) }); !e.syncing {
			s.syncEtcd(e)
		}
	})
}

// syncEtcd makes all that waits durable, on most members.
func (s *simulation) syncEtcd(e *etcd) {
	group := e.waiting
	e.waiting, e.syncing = nil, true
	s.after(s.sync()+s.RoundTrip, func() {
		e.syncing = false
		for _, apply := range group {
			apply()
		}
		if len(e.waiting) > 0 {
			s.syncEtcd(e)
		}
	})
}

// publish applies a commit at a daemon, and writes it to the watchers there.
func (s *simulation) publish(d *daemon, store, n int, cost float64, then func()) {
	d.followers[store].do(float64(n)*cost, func() {
		d.applied += n
		// Watches are owners of their own, so many of them are written to at the same time.
		fanOut := float64(n) * s.Watchers * s.Event
		parts := math.Min(float64(s.Processors), math.Ceil(fanOut/fanOutPart))
		for range int(parts) {
			d.run(fanOut/parts, func() {})
		}
		then()
	})
}

// overhead is the work for a commit, of which a part goes on beside what waits for it, and with it other work.
func (s *simulation) overhead(m *machine, commit, other float64, then func()) {
	m.run(s.varied(commit*s.cost().Path+other), then)
	m.run(s.varied(commit*(1-s.cost().Path)), func() {})
}

// fanOutPart is what is worth a processor more.
const fanOutPart = 500

// cost is that of the store of the setup.
func (s *simulation) cost() *StoreCost { return s.costOf(s.Etcds > 0) }

// varied is a time of work that takes so long on the mean. Half of it varies, for no two requests meet the same caches and collections.
func (s *simulation) varied(mean float64) float64 { return mean * (1 + s.random.ExpFloat64()) / 2 }

// stalls is the share of commits that wait longer than usual.
const stalls = 0.02

// sync is one wait for a disk and for those who are woken by it.
func (s *simulation) sync() float64 {
	if s.random.Float64() < stalls {
		return s.cost().Wait + s.cost().Stall*s.random.ExpFloat64()
	}
	return s.cost().Wait
}

// begin forgets what the warm-up has used.
func (s *simulation) begin() {
	s.begun = s.now
	for _, e := range s.etcds {
		e.used, e.applier.spent = 0, 0
	}
	for _, d := range s.daemons {
		d.used, d.applied = 0, 0
		for store, c := range d.committers {
			if c != nil {
				c.batches, c.writes, c.spent, d.followers[store].spent = 0, 0, 0, 0
			}
		}
	}
}

// outcome reads what was used since the warm-up.
func (s *simulation) outcome() Outcome {
	o := Outcome{Overloaded: s.overloaded()}
	counted := s.latencies[min(s.warmUp(), len(s.latencies)):]
	elapsed := s.now - s.begun
	if len(counted) == 0 || elapsed <= 0 {
		o.Overloaded = true
		o.Usages = []Usage{{"nothing was answered", math.Inf(1)}}
		return o
	}
	o.Rate = float64(len(counted)) / elapsed * 1e6
	slices.Sort(counted)
	o.P50, o.P99 = counted[len(counted)/2], counted[len(counted)*99/100]
	var batches, writes int
	var commits, follower, applier float64
	for _, d := range s.daemons {
		o.Daemon, o.Applied = max(o.Daemon, d.used/elapsed), max(o.Applied, float64(d.applied)/elapsed*1e6)
		for store, c := range d.committers {
			if c == nil {
				continue
			}
			batches, writes = batches+c.batches, writes+c.writes
			follower = max(follower, d.followers[store].spent/elapsed)
			fill := float64(c.writes) / float64(max(1, c.batches)) / float64(s.cost().MostInBatch)
			commits = max(commits, fill*c.spent/elapsed)
		}
	}
	o.Batch = float64(writes) / float64(max(1, batches))
	for _, e := range s.etcds {
		o.Etcd, applier = max(o.Etcd, e.used/elapsed), max(applier, e.applier.spent/elapsed)
	}
	processors := float64(s.Processors)
	o.Usages = []Usage{{"processors of a daemon", o.Daemon / processors}, {"a daemon's publication", follower}, {"commits of a daemon", commits}}
	if s.Etcds > 0 {
		o.Usages = append(o.Usages, Usage{"processors of an etcd", o.Etcd / processors}, Usage{"an etcd's application", applier})
	}
	return o
}

// Highest is the highest rate that a setup keeps up with, within a twentieth, and what is busiest then.
func Highest(p Parameters, setup Setup, seed uint64) (float64, Outcome) {
	low, high := 1_000.0, 200_000.0
	setup.Rate = low
	best := Simulate(p, setup, seed)
	for high/low > 1.05 {
		setup.Rate = math.Sqrt(low * high)
		if o := Simulate(p, setup, seed); o.keepsUp() {
			low, best = setup.Rate, o
		} else {
			high = setup.Rate
		}
	}
	return low, best
}

// keepsUp says whether it can go on for ever. A run is too short to tell by the rate: one stall at its end would change that.
func (o Outcome) keepsUp() bool { return !o.Overloaded && o.Busiest().Share < 0.97 }
