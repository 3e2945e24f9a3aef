package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// A guard is what a log knows of one, as far as it was delivered.
type guard struct {
	at int64 // the revision of etcd that its key has; 0 if there is none
	// raised and others are what the subscriber was told with the newest change of it, by whomever and by another log.
	raised, others persist.Revision
}

// overtakes tells whether somebody has raised the guard so that a write that names it cannot be committed any more.
func (g guard) overtakes(by persist.Guard) bool {
	if by.IsFence() {
		return !by.Raise && g.others > by.Seen
	}
	if by.Raise {
		return g.others > by.Seen
	}
	return g.raised > by.Seen
}

// applyGuards notes what a revision says of guards, for a caller who then tells the subscriber upTo.
func (l *Log) applyGuards(d *delivery, upTo persist.Revision) {
	if len(d.guards) == 0 && d.dropped == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped = max(l.dropped, d.dropped)
	for _, e := range d.guards {
		g := l.guards[e.key]
		if e.deletes && g.at < l.dropped && !(persist.Guard{Name: e.key}).IsFence() { // for its age: only who was paused has seen less than that
			l.forgotten = max(l.forgotten, g.raised)
			delete(l.guards, e.key)
			continue
		}
		// Who else deletes one takes away what others are compared with. So that counts as if it were raised.
		if g.at, g.raised = d.revision, upTo; e.deletes {
			g.at = 0
		}
		if d.writer != l.writer {
			g.others = upTo
		}
		l.guards[e.key] = g
	}
}

// readGuards reads the guards at a revision. Who has raised them is not told, so it counts as another one.
func (l *Log) readGuards(ctx context.Context, revision int64) (map[string]guard, error) {
	guards := map[string]guard{}
	err := l.readEach(ctx, l.keys.guards(), revision, func(kv *mvccpb.KeyValue) error {
		raised := l.revisions.upTo(kv.ModRevision)
		guards[trimKey(kv.Key, l.keys.guards())] = guard{at: kv.ModRevision, raised: raised, others: raised}
		return nil
	})
	return guards, err
}

// overtaken answers, if one of some guards was raised after its unit has seen it, what has been delivered with that, and
// persist.ErrOvertaken, or persist.ErrFenced if one of them is a fence.
func (l *Log) overtaken(guards []persist.Guard) (seen persist.Revision, refused error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overtakenNow(guards)
}

// overtakenNow is overtaken, for a caller who holds mu.
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

// guardsOf are the guards of a unit.
func guardsOf(batch []persist.Write, u unit) (all []persist.Guard) {
	for _, i := range u {
		all = append(all, batch[i].Guards...)
	}
	return all
}

// addGuards adds to a step that the guards of its unit are as they were delivered, unless one of them has overtaken the unit by then. Both is
// looked up in one moment: what is delivered after the one and before the other would be neither refused here nor by the servers.
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

// A raise is a guard that a unit raises, with the revision that its key has before.
type raise struct {
	name string
	at   int64
}

// newRaises are those of a step that the round does not have yet. All units of a round that raise a guard do so by one operation, for
// etcd takes a key once; and under the condition that they have themselves, so that of several logs that are in each
// other's way one always succeeds.
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
