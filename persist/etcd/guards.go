package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// A guard is the delivered state of a persist.Guard.
type guard struct {
	at int64 // mod_revision of the guard's key; 0 if the key does not exist
	// raised is the log revision at which the guard was last raised. others is the log revision at
	// which another log last raised it.
	raised, others persist.Revision
}

// overtakes reports whether a write must be rejected because this guard was raised after the write
// was computed. by is the guard in the write.
func (g guard) overtakes(by persist.Guard) bool {
	if by.IsFence() {
		return !by.Raise && g.others > by.Seen
	}
	if by.Raise {
		return g.others > by.Seen
	}
	return g.raised > by.Seen
}

// applyGuards applies the guard changes of a delivered revision. upTo is its log revision, which
// the caller must then report to the subscriber.
func (l *Log) applyGuards(d *delivery, upTo persist.Revision) {
	if len(d.guards) == 0 && d.dropped == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped = max(l.dropped, d.dropped)
	for _, e := range d.guards {
		g := l.guards[e.key]
		if e.deletes && g.at < l.dropped && !(persist.Guard{Name: e.key}).IsFence() { // dropped because of its age; a log that has seen less was paused
			l.forgotten = max(l.forgotten, g.raised)
			delete(l.guards, e.key)
			continue
		}
		// A deletion counts as a raise, unless the guard was deleted because of its age.
		if g.at, g.raised = d.revision, upTo; e.deletes {
			g.at = 0
		}
		if d.writer != l.writer {
			g.others = upTo
		}
		l.guards[e.key] = g
	}
}

// readGuards attributes every raise to other logs, because the writers are unknown.
func (l *Log) readGuards(ctx context.Context, revision int64) (map[string]guard, error) {
	guards := map[string]guard{}
	err := l.readEach(ctx, l.keys.guards(), revision, func(kv *mvccpb.KeyValue) error {
		raised := l.revisions.upTo(kv.ModRevision)
		guards[trimKey(kv.Key, l.keys.guards())] = guard{at: kv.ModRevision, raised: raised, others: raised}
		return nil
	})
	return guards, err
}

// overtaken returns persist.ErrOvertaken, or ErrFenced for a fence, if one of the guards was raised
// after the revision in its Seen field. Before a retry, the caller must wait for revision seen.
func (l *Log) overtaken(guards []persist.Guard) (seen persist.Revision, refused error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overtakenNow(guards)
}

// overtakenNow is like overtaken. The caller must hold l.mu.
func (l *Log) overtakenNow(guards []persist.Guard) (seen persist.Revision, refused error) {
	for _, g := range guards {
		known, ok := l.guards[g.Name]
		if !ok && !g.IsFence() {
			known.raised, known.others = l.forgotten, l.forgotten
		}
		if known.overtakes(g) {
			seen = max(seen, known.raised)
			switch {
			case g.IsFence():
				refused = persist.ErrFenced
			case refused == nil:
				refused = persist.ErrOvertaken
			}
		}
	}
	return seen, refused
}

func guardsOf(batch []persist.Write, u unit) (all []persist.Guard) {
	for _, i := range u {
		all = append(all, batch[i].Guards...)
	}
	return all
}

// addGuards makes the transaction of a step fail if one of the guards was raised after the newest
// delivered revision. It returns an error if a delivered raise already makes the step outdated. It
// holds l.mu throughout, because it would otherwise miss a raise delivered between the check and
// the read of the revision.
func (l *Log) addGuards(s *step, guards []persist.Guard) (seen persist.Revision, refused error) {
	if len(guards) == 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if seen, refused := l.overtakenNow(guards); refused != nil {
		return seen, refused
	}
	for _, g := range guards {
		at := l.guards[g.Name].at
		s.requires(l.keys.guard(g.Name), at)
		if g.Raise {
			s.raises = append(s.raises, raise{g.Name, at})
		}
	}
	return 0, nil
}

// A raise is a unit's write to a guard's key. at is the key's mod_revision before the write.
type raise struct {
	name string
	at   int64
}

// newRaises returns the step's raises that the round does not contain yet. etcd accepts a key once
// per transaction, so all units of a round share one operation per guard. The operation has the
// same condition as the units, so one of several conflicting logs always succeeds.
func (r *round) newRaises(s step) (all []raise) {
	for _, one := range s.raises {
		if !r.raised[one.name] {
			all = append(all, one)
		}
	}
	return all
}

func (k keys) raiseOp(r raise) clientv3.Op {
	key := k.guard(r.name)
	return clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", r.at)}, []clientv3.Op{clientv3.OpPut(key, "")}, nil)
}
