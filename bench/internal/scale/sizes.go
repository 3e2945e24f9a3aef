package scale

import "math"

// share is the part of all objects, or of all writes, that the largest store of a setup has.
func (s Setup) share() float64 {
	if s.Etcds > 1 {
		return s.Largest
	}
	return 1
}

// held is how many of all objects a daemon keeps in memory.
func (p Parameters) held(s Setup, objects float64) float64 {
	if !s.Apart {
		return objects
	}
	return objects * min(1, s.share()+p.Everywhere)
}

// memory is what a daemon keeps alive, and what it takes at most, with garbage; MiB.
func (p Parameters) memory(s Setup, objects float64) (alive, most float64) {
	alive = p.costOf(s.Etcds > 0).Memory.At(p.held(s, objects)) + p.HistoryMiB
	return alive, alive*(1+p.Headroom) + p.GarbageMiB
}

// etcdBytes is what the largest etcd keeps: the objects, and with them what has changed until that is compacted; MiB.
func (p Parameters) etcdBytes(s Setup, objects, rate float64) (state, withHistory float64) {
	state = p.Etcd.Bytes.At(objects * s.share())
	return state, state + rate*s.share()*p.KeptSeconds*p.Etcd.Bytes.PerObject
}

// start is how long a daemon takes until it answers, with what it has on its disk and, on an etcd, without; s.
func (p Parameters) start(s Setup, objects float64) (usual, without float64) {
	c, held := p.costOf(s.Etcds > 0), p.held(s, objects)
	return c.Start.At(held) / 1e3, c.StartWithout.At(held) / 1e3
}

// history is how long a watch may be away until it must list again, by what a daemon keeps of changes; s.
func (p Parameters) history(rate float64) float64 {
	const changes = 2 // a change counts the state that it has replaced
	return p.HistoryMiB * (1 << 20) / (rate * changes * p.EventBytes)
}

// fanOut is what many watches of everything cost.
type fanOut struct {
	Processors, Gbit float64 // of each daemon, if its watches are its own
	Levels, Relays   int     // of a tree below the daemons
	Fed              float64 // processors of each daemon above a tree
	Delay            float64 // that a tree adds
}

// useful is how much of a machine may be busy before what waits grows.
const useful = 0.8

// watches is the cost of so many watches, each of which is told of so many events a second.
func (p Parameters) watches(daemons int, rate, watches float64) fanOut {
	own := watches / float64(daemons)
	f := fanOut{Processors: rate * own * p.Event / 1e6, Gbit: rate * own * p.EventBytes * 8 / 1e9}
	forAll := useful * min(float64(p.Machine)*1e6/(rate*p.Event), p.NetworkGbit*1e9/(rate*p.EventBytes*8))
	if own <= forAll {
		return f
	}
	level := int(math.Ceil(watches / forAll))
	for f.Levels, f.Relays = 1, level; level > daemons*p.Branches; f.Levels++ {
		level = (level + p.Branches - 1) / p.Branches
		f.Relays += level
	}
	f.Fed = rate * math.Ceil(float64(level)/float64(daemons)) * p.Event / 1e6
	f.Delay = float64(f.Levels) * p.RoundTrip / 2
	return f
}
