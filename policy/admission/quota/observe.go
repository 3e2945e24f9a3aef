package quota

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Observe counts a published change without a reservation. The publisher calls it in version order,
// before readers see the change and the client gets the response. old is nil for a create, and now
// for a delete.
func (l *Ledger) Observe(k *schema.Kind, version uint64, old, now *meta.Object) {
	l.observe(k, version, old, now, nil)
}

// observe counts a published change. If reserved is not nil, observe atomically turns the held
// amounts into usage, so that they count exactly once at all times.
func (l *Ledger) observe(k *schema.Kind, version uint64, old, now *meta.Object, reserved *reservation) {
	o := observation{ledger: l, kind: k, version: version, old: old, now: now, reserved: reserved}
	if l.unseen != nil && k.Storage == quotas {
		l.observeRules(&o)
	}
	n := l.namespace(o.key().Namespace)
	if n == nil {
		return
	}
	if o.reserved != nil && o.reserved.namespace != n {
		o.reserved = nil // it belongs to deleted quotas with another mutex; end releases it
	}
	for {
		v := n.view.Load()
		covers := (*v)[k.Storage]
		if len(covers) == 0 && o.reserved == nil {
			return
		}
		o.computeMissing(covers)
		n.mu.Lock()
		if n.view.Load() == v {
			o.apply(n, covers)
			n.mu.Unlock()
			return
		}
		n.mu.Unlock()
	}
}

type observation struct {
	ledger   *Ledger
	kind     *schema.Kind
	version  uint64
	old, now *meta.Object
	reserved *reservation

	decoded          bool
	oldTree, nowTree tree.Tree
}

func (o *observation) key() meta.Key {
	if o.now != nil {
		return o.now.Key
	}
	if o.old != nil {
		return o.old.Key
	}
	return meta.Key{}
}

func (o *observation) entry(a *account) (deltas []delta, ok bool) {
	if o.reserved == nil {
		return nil, false
	}
	for _, e := range o.reserved.entries {
		if e.account == a {
			return e.deltas, true
		}
	}
	return nil, false
}

// lapses reports whether the change affects a terminating Pod. The Pod may have stopped counting
// after the reservation was made. In that case, the reserved deltas are outdated.
func (o *observation) lapses() bool {
	return o.kind.Storage == pods && (o.old != nil && o.old.Meta.Terminating || o.now != nil && o.now.Meta.Terminating)
}

// computeMissing decodes the objects if the reservation's deltas are missing or outdated. It runs
// before the mutex is taken, so that no mutex is held while decoding.
func (o *observation) computeMissing(covers []*cover) {
	for _, c := range covers {
		if _, known := o.entry(c.account); c.decodes && (!known || o.lapses()) {
			o.decode()
		}
	}
}

func (o *observation) decode() {
	if !o.decoded {
		o.decoded = true
		o.oldTree, o.nowTree = o.ledger.decode(o.kind, o.old), o.ledger.decode(o.kind, o.now)
	}
}

// decode decodes a stored object, or returns nil for nil. A corrupt object becomes an empty Tree,
// so that it still counts as one object.
func (l *Ledger) decode(k *schema.Kind, o *meta.Object) tree.Tree {
	if o == nil {
		return nil
	}
	decoded, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		l.log.Error("cannot decode a stored object; quotas do not count it", "object", o.Key.String(), "error", err)
		return tree.Tree{}
	}
	return decoded
}

// apply counts the change in all accounts. The caller holds the mutex.
func (o *observation) apply(n *namespace, covers []*cover) {
	for _, c := range covers {
		deltas, known := o.entry(c.account)
		if !known || o.lapses() {
			deltas = o.deltas(n, c)
		}
		if c.account.scanning && o.now == nil && o.lapses() {
			c.account.gone[o.old.Meta.UID] = true
		}
		if c.account.apply(unapplied{c.resource, o.version, deltas}) {
			o.ledger.change(n.name, c.account.name)
		}
	}
	if o.reserved != nil {
		o.reserved.giveBack()
	}
	if o.lapses() && len(covers) > 0 {
		o.track(n)
	}
}

func (o *observation) deltas(n *namespace, c *cover) []delta {
	if !c.decodes {
		switch {
		case o.old == nil && o.now != nil:
			return c.ones()
		case o.old != nil && o.now == nil:
			return difference(nil, c.ones())
		}
		return nil
	}
	o.decode()
	return difference(c.uses(o.nowTree, n.isLapsed(o.now)), c.uses(o.oldTree, n.isLapsed(o.old)))
}
