package wire

// Stats counts connections and failures to establish them.
type Stats struct {
	Limit                         int    // maximum open
	Open, New                     int    // all, and those without a complete request
	Accepted                      uint64 // admitted
	Refused, Evicted              uint64 // rejected, and evicted for others
	AcceptErrors, HandshakeErrors uint64
	Waiting                       int // connections with input that wait for a slot
}

// Stats returns the current counts.
func (r *Connections) Stats() Stats {
	r.mu.Lock()
	open, fresh := r.all.Len(), r.newConns.Len()
	r.mu.Unlock()
	r.scheduler.mu.Lock()
	waiting := r.scheduler.waiting
	r.scheduler.mu.Unlock()
	return Stats{
		Waiting: waiting,
		Limit:   r.limit, Open: open, New: fresh, Accepted: r.accepted.Load(), Refused: r.refused.Load(), Evicted: r.evicted.Load(),
		AcceptErrors: r.acceptErrors.Load(), HandshakeErrors: r.handshakeErrors.Load(),
	}
}
