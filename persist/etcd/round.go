package etcd

import (
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// A unit is a write and its parts, which are committed atomically. It lists their indexes in the
// batch.
type unit []int

func unitsOf(batch []persist.Write) ([]unit, error) {
	units := make([]unit, 0, len(batch))
	of := make(map[int]int, len(batch)) // the unit of a write
	for i := range batch {
		w := &batch[i]
		switch {
		case w.RevisionOffset > len(w.Value):
			return nil, fmt.Errorf("etcd: revision offset %d lies beyond the %d bytes of %q", w.RevisionOffset, len(w.Value), w.Key)
		case w.BasedOn < 0 || w.BasedOn > i:
			return nil, fmt.Errorf("etcd: write %d of a batch cannot be based on its write %d", i+1, w.BasedOn)
		case w.With < 0 || w.With > i || w.With > 0 && len(w.Conditions) > 0:
			return nil, fmt.Errorf("etcd: write %d of a batch cannot be a part of its write %d", i+1, w.With)
		case w.With > 0:
			whole := of[w.With-1]
			units[whole], of[i] = append(units[whole], i), whole
		default:
			of[i] = len(units)
			units = append(units, unit{i})
		}
	}
	return units, nil
}

// A round is one transaction and its outcome.
type round struct {
	number  uint64
	keys    keys
	batch   []persist.Write
	units   []unit
	writes  []int // batch index of each write, by position in the transaction
	touched map[string]bool
	raised  map[string]bool // names of guards
	record  record
	ops     []clientv3.Op // operations of the units
	largest int           // operations of the largest unit
	bytes   int

	// The follower writes the following fields before it closes decided.
	revision  int64
	upTo      persist.Revision // revision reported to the subscriber with this round
	committed []bool           // by position in the transaction
	lost      bool             // the follower has not seen the transaction's revision and never will
	decided   chan struct{}
}

type step struct {
	ifs    []clientv3.Cmp
	thens  []clientv3.Op
	notes  []note
	raises []raise
	bytes  int
}

// A planner splits the units of a batch into rounds.
type planner struct {
	log     *Log
	batch   []persist.Write
	results []persist.Result
	done    []bool // writes that have a result
}

// overheadBytes is a request's approximate overhead per key.
const overheadBytes = 64

// next returns the next round and the units for later rounds. The round is nil if there is nothing
// to send.
func (p *planner) next(pending []unit) (*round, []unit) {
	r := &round{keys: p.log.keys, batch: p.batch, touched: map[string]bool{}, raised: map[string]bool{}, decided: make(chan struct{})}
	var later []unit
	for i, u := range pending {
		if refused, ok := p.precheck(u); !ok {
			p.refuse(u, refused)
			continue
		}
		claims, taken, free := p.log.changeClaims(p.batch, u)
		reads, changes := p.keysOf(u, claims)
		if !free {
			changes = append(changes, p.log.keys.claim(taken))
		}
		guards := guardsOf(p.batch, u)
		if p.waitsForBase(u) || r.touches(reads) || r.touches(changes) || r.raises(guards) {
			r.touch(reads) // later units must not overtake this one
			r.touch(changes)
			later = append(later, u)
			continue
		}
		if !free {
			p.refuse(u, persist.Result{Revision: p.log.appliedVersion(), Err: persist.ErrCondition})
			continue
		}
		s := p.step(u, claims, len(r.writes))
		if seen, err := p.log.addGuards(&s, guards); err != nil {
			p.refuse(u, persist.Result{Revision: seen, Err: err})
			continue
		}
		if len(r.units) > 0 && !r.fits(u, s, p.log.maxOps, p.log.maxBytes) {
			later = append(later, pending[i:]...)
			break
		}
		r.add(u, s)
		r.touch(changes)
	}
	if len(r.units) == 0 {
		return nil, later
	}
	return r, later
}

func (p *planner) waitsForBase(u unit) bool {
	base := p.batch[u[0]].BasedOn
	return base > 0 && !p.done[base-1]
}

// precheck returns false and a result if the base of the unit was rejected or the Transformer
// cannot encrypt. The unit is then rejected without a request.
func (p *planner) precheck(u unit) (persist.Result, bool) {
	if base := p.batch[u[0]].BasedOn; base > 0 && p.done[base-1] && p.results[base-1].Err != nil {
		return persist.Result{Revision: p.results[base-1].Revision, Err: persist.ErrCondition}, false
	}
	if p.log.o.Transformer == nil {
		return persist.Result{}, true
	}
	for _, i := range u {
		if err := p.log.o.Transformer.Check(p.batch[i].Key); err != nil {
			return persist.Result{Err: &persist.TransformError{Key: p.batch[i].Key, Cause: err}}, false
		}
	}
	return persist.Result{}, true
}

func (p *planner) refuse(u unit, with persist.Result) {
	for _, i := range u {
		p.results[i], p.done[i] = with, true
	}
}

func (p *planner) keysOf(u unit, claims []claimChange) (reads, changes []string) {
	k := p.log.keys
	for _, c := range p.batch[u[0]].Conditions {
		reads = append(reads, k.object(c.Key))
	}
	for _, i := range u {
		changes = append(changes, k.object(p.batch[i].Key))
	}
	for _, c := range claims {
		changes = append(changes, k.claim(c.name))
	}
	return reads, changes
}

func (r *round) touches(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return r.touched[key] })
}

func (r *round) touch(keys []string) {
	for _, key := range keys {
		r.touched[key] = true
	}
}

// raises reports whether the round raises a guard that a unit only reads. Such a unit waits for the
// next round, which rejects it.
func (r *round) raises(guards []persist.Guard) bool {
	return slices.ContainsFunc(guards, func(g persist.Guard) bool { return !g.Raise && r.raised[g.Name] })
}

func (s *step) ops() int { return max(len(s.ifs), len(s.thens)) }

// fits reports whether a unit fits into the round. Like etcd, it counts the operations of a
// transaction plus those of its largest nested transaction.
func (r *round) fits(u unit, s step, maxOps, maxBytes int) bool {
	ops := 1 + len(r.ops) + 1 + len(r.newRaises(s)) + max(r.largest, s.ops())
	return ops <= maxOps && len(r.writes)+len(u) <= maxWrites && r.bytes+s.bytes <= maxBytes
}

func (r *round) add(u unit, s step) {
	r.units, r.writes, r.record.notes = append(r.units, u), append(r.writes, u...), append(r.record.notes, s.notes...)
	r.ops, r.largest, r.bytes = append(r.ops, clientv3.OpTxn(s.ifs, s.thens, nil)), max(r.largest, s.ops()), r.bytes+s.bytes
	for _, one := range r.newRaises(s) {
		r.ops, r.raised[one.name] = append(r.ops, r.keys.raiseOp(one)), true
	}
}

// step returns the operations of a unit. position is the position of its first write in the
// transaction.
func (p *planner) step(u unit, claims []claimChange, position int) (s step) {
	l, first := p.log, &p.batch[u[0]]
	for _, c := range first.Conditions {
		s.requires(l.keys.object(c.Key), l.revisions.etcd(c.Revision))
	}
	if first.BasedOn > 0 {
		s.requires(l.keys.object(first.Key), l.revisions.etcd(p.results[first.BasedOn-1].Revision))
	}
	for n, i := range u {
		p.addWrite(&s, &p.batch[i], byte(position+n))
	}
	for _, c := range claims {
		key := l.keys.claim(c.name)
		s.requires(key, c.before.at)
		switch {
		case c.holder == c.before.holder:
		case c.holder == "":
			s.remove(key)
		default:
			s.put(key, c.holder)
		}
	}
	return s
}

func (s *step) requires(key string, revision int64) {
	s.ifs = append(s.ifs, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
	s.bytes += len(key) + overheadBytes
}

func (s *step) put(key, value string) {
	s.thens = append(s.thens, clientv3.OpPut(key, value))
	s.bytes += len(key) + len(value) + overheadBytes
}

func (s *step) remove(key string) {
	s.thens = append(s.thens, clientv3.OpDelete(key))
	s.bytes += len(key) + overheadBytes
}

func (p *planner) addWrite(s *step, w *persist.Write, position byte) {
	l := p.log
	value := appendHead(make([]byte, 0, len(w.Value)+8), position, w.RevisionOffset)
	value = l.encodeAppend(value, persist.Place{Key: w.Key}, w.Value)
	n := note{position: position, deletes: w.Delete, metadata: l.encodeAppend(nil, persist.Place{Key: w.Key, Metadata: true}, w.Metadata)}
	if w.Delete {
		n.key, n.value = w.Key, value
		s.remove(l.keys.object(w.Key))
	} else {
		s.put(l.keys.object(w.Key), string(value))
	}
	if w.Delete || len(w.Metadata) > 0 {
		s.notes = append(s.notes, n)
		s.bytes += len(n.key) + len(n.value) + len(n.metadata) + overheadBytes
	}
}

func (l *Log) encodeAppend(b []byte, at persist.Place, value []byte) []byte {
	if l.o.Transformer == nil || len(value) == 0 {
		return append(b, value...)
	}
	applied, _ := l.appliedRevision()
	at.Revision, at.Unversioned = l.revisions.upTo(applied), true
	return l.o.Transformer.Encode(b, at, value)
}
