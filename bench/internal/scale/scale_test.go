package scale

import (
	"math"
	"reflect"
	"testing"
)

// example are round parameters, as they may be.
func example() Parameters {
	return Parameters{
		Measured: Measured{
			Processors: 2, Client: 30, Follow: 30, Feed: 10, Event: 2, EventBytes: 1500,
			Disk: StoreCost{Write: 80, Batch: 200, Left: 1, Path: 1, Wait: 50, Stall: 500, MostInBatch: mostOnDisk, Memory: line{30, 0.002}, Start: line{50, 0.004}},
			Etcd: StoreCost{
				Write: 100, Batch: 400, EtcdWrite: 40, EtcdBatch: 500, Left: 1, Path: 0.7, Wait: 100, Stall: 5_000, MostInBatch: mostOnEtcd,
				Memory: line{40, 0.002}, Start: line{150, 0.005}, StartWithout: line{150, 0.01}, Bytes: line{0.1, 0.0016},
			},
		},
		Assumed: assumed,
	}
}

func TestSeedDecides(t *testing.T) {
	for _, s := range example().setups() {
		s.Rate = 3_000
		one, again, other := Simulate(example(), s, 7), Simulate(example(), s, 7), Simulate(example(), s, 8)
		if !reflect.DeepEqual(one, again) {
			t.Errorf("%s: %+v and %+v of one seed", s.Name, one, again)
		}
		if reflect.DeepEqual(one, other) {
			t.Errorf("%s: the seed changes nothing: %+v", s.Name, one)
		}
	}
}

// No processor time is lost or made up: what is busy is what the answered writes cost.
func TestWorkIsKept(t *testing.T) {
	p := example()
	for _, s := range p.setups()[:2] {
		s.Rate = 2_000
		o := Simulate(p, s, 1)
		daemons := float64(s.Daemons)
		c := p.costOf(s.Etcds > 0)
		want := o.Rate / 1e6 * (c.Write + c.Batch/o.Batch + (daemons-1)*p.Follow + p.Watchers*p.Event) / daemons
		if math.Abs(o.Daemon/want-1) > 0.1 { // the busiest of them
			t.Errorf("%s: a daemon keeps %v processors busy, and its writes cost %v", s.Name, o.Daemon, want)
		}
		if want := o.Rate / 1e6 * (c.EtcdWrite + c.EtcdBatch/o.Batch + (daemons-1)*p.Feed); s.Etcds > 0 && math.Abs(o.Etcd/want-1) > 0.05 {
			t.Errorf("%s: etcd keeps %v processors busy, and its writes cost %v", s.Name, o.Etcd, want)
		}
		if math.Abs(o.Rate/s.Rate-1) > 0.05 {
			t.Errorf("%s: %v writes a second are answered of %v", s.Name, o.Rate, s.Rate)
		}
	}
}

func TestMoreIsNotLess(t *testing.T) {
	p := example()
	on := func(change func(*Setup)) Outcome {
		s := p.setups()[1]
		s.Rate = 2_000
		change(&s)
		return Simulate(p, s, 1)
	}
	highest := func(change func(*Parameters, *Setup)) float64 {
		p, s := p, p.setups()[1]
		change(&p, &s)
		rate, _ := Highest(p, s, 1)
		return rate
	}
	usual := on(func(*Setup) {})
	few, many := Simulate(p, Setup{Daemons: 1, Processors: 2, OneMachine: true, Clients: 4}, 1), Simulate(p, Setup{Daemons: 1, Processors: 2, OneMachine: true, Clients: 64}, 1)
	busy := p
	busy.Disk.Left = 0.5
	usualRate := highest(func(*Parameters, *Setup) {})
	for name, pair := range map[string][2]float64{
		"more writes, latency":            {usual.P50, on(func(s *Setup) { s.Rate = 20_000 }).P50},
		"more writes, in a commit":        {usual.Batch, on(func(s *Setup) { s.Rate = 20_000 }).Batch},
		"more writes, processors":         {usual.Daemon, on(func(s *Setup) { s.Rate = 4_000 }).Daemon},
		"more writes, events to apply":    {usual.Applied, on(func(s *Setup) { s.Rate = 4_000 }).Applied},
		"more daemons, etcd":              {usual.Etcd, on(func(s *Setup) { s.Daemons = 9 }).Etcd},
		"more watches, processors":        {usual.Daemon, on(func(s *Setup) { s.Watchers *= 10 }).Daemon},
		"further away, latency":           {usual.P50, on(func(s *Setup) { s.RoundTrip *= 10 }).P50},
		"more clients, latency":           {few.P50, many.P50},
		"more left, rate":                 {Simulate(busy, Setup{Daemons: 1, Processors: 2, OneMachine: true, Clients: 4}, 1).Rate, few.Rate},
		"more clients, rate":              {few.Rate, many.Rate},
		"more clients, in a commit":       {few.Batch, many.Batch},
		"cheaper writes, highest rate":    {usualRate, highest(func(p *Parameters, _ *Setup) { p.Etcd.Write, p.Etcd.EtcdWrite = p.Etcd.Write/2, p.Etcd.EtcdWrite/2 })},
		"larger commits, highest rate":    {highest(func(p *Parameters, _ *Setup) { p.Etcd.MostInBatch = 8 }), usualRate},
		"more etcds, highest rate":        {usualRate, highest(func(_ *Parameters, s *Setup) { s.Etcds, s.Largest = 4, 0.25 })},
		"more objects, memory of the two": {first(p.memory(p.setups()[1], 1e6)), first(p.memory(p.setups()[1], 1e7))},
		"all objects, memory":             {first(p.memory(p.setups()[3], 1e7)), first(p.memory(p.setups()[2], 1e7))},
		"more objects, start":             {first(p.start(p.setups()[0], 1e6)), first(p.start(p.setups()[0], 1e7))},
		"more objects, etcd":              {first(p.etcdBytes(p.setups()[1], 1e6, 1)), first(p.etcdBytes(p.setups()[1], 1e7, 1))},
		"slower writes, history":          {p.history(10_000), p.history(1_000)},
	} {
		if pair[0] >= pair[1] {
			t.Errorf("%s: %v, then %v", name, pair[0], pair[1])
		}
	}
}

func first(a, _ float64) float64 { return a }

// What cannot be kept up with is told, and found by Highest.
func TestOverload(t *testing.T) {
	p, s := example(), example().setups()[1]
	s.Processors, s.Rate = 1, 50_000
	if o := Simulate(p, s, 1); o.keepsUp() {
		t.Errorf("one processor keeps up with %v writes of 100 µs: %+v", s.Rate, o)
	}
	rate, o := Highest(p, s, 1)
	if most := float64(s.Daemons) * 1e6 / p.Etcd.Write; rate > most || rate < most/10 || o.Busiest().What != "processors of a daemon" {
		t.Errorf("%v writes a second, and %+v, on three processors that can do %v", rate, o.Busiest(), most)
	}
}

func TestTrees(t *testing.T) {
	p := example()
	p.Machine, p.Event, p.EventBytes, p.NetworkGbit, p.Branches, p.RoundTrip = 10, 10, 1, 1e6, 4, 500
	for _, c := range []struct {
		watches, levels, relays int
	}{{30, 0, 0}, {2_400, 0, 0}, {2_401, 1, 4}, {9_600, 1, 12}, {9_601, 2, 13 + 4}, {40_000, 3, 50 + 13 + 4}} {
		f := p.watches(3, 1_000, float64(c.watches)) // a machine has room for 800
		if f.Levels != c.levels || f.Relays != c.relays || f.Delay != float64(c.levels)*250 {
			t.Errorf("%d watches: %+v, want %d levels and %d relays", c.watches, f, c.levels, c.relays)
		}
		if c.levels > 0 && f.Fed >= f.Processors {
			t.Errorf("%d watches: a daemon above the tree pays %v, without it %v", c.watches, f.Fed, f.Processors)
		}
	}
}

func TestChecks(t *testing.T) {
	good, high, low, none := Check{"a", "µs", 10, 12, 1.25}, Check{"b", "µs", 13, 10, 1.25}, Check{"c", "µs", 10, 13, 1.25}, Check{"d", "µs", 0, 10, 9}
	for _, c := range []Check{high, low, none, {"e", "µs", math.NaN(), 10, 9}, {"f", "µs", 10, math.Inf(1), 9}} {
		if c.Holds() || Failed([]Check{good, c}) == nil {
			t.Errorf("%+v holds", c)
		}
	}
	if !good.Holds() || Failed([]Check{good}) != nil {
		t.Errorf("%+v does not hold", good)
	}
}
