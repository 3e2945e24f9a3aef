package limits

// An Item, such as a watch, holds a resource and can be ended to make room for another principal.
type Item interface {
	// Idle reports whether the item is idle. Idle items are reclaimed first.
	Idle() bool
	// Reclaim makes the item end soon. It must not block.
	Reclaim()
}

// Offer lets other principals reclaim an item until withdraw is called.
func (p *Principal) Offer(r Resource, i Item) (withdraw func()) {
	mu, offers := &p.ledger.mu, p.ledger.pools[r].offers
	mu.Lock()
	defer mu.Unlock()
	e := offers.Add(p, i)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		offers.Remove(p, e)
	}
}

// reclaim tries to end an item of the principal that holds the most of a resource, and reports
// whether it did. That principal must hold more than p. Idle items are ended first, then the
// oldest items. Afterward, p may exceed its threshold, but not its fair share.
func (p *Principal) reclaim(r Resource) bool {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	pool := &p.ledger.pools[r]
	for _, fits := range []func(Item) bool{Item.Idle, func(Item) bool { return true }} {
		if owner, e := pool.offers.OldestOfLargest(r, p.Held(r), fits); e != nil {
			pool.offers.Remove(owner, e)
			e.Value.(Item).Reclaim()
			pool.rejected[byReclaim].Add(1)
			return true
		}
	}
	return false
}
