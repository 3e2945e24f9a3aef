package wire

// Stats count connections.
type Stats struct {
	Limit                         int    // how many may be open
	Open, New                     int    // that are open, and those of them that have not sent a whole request
	Accepted                      uint64 // that were let in
	Refused, Evicted              uint64 // that were not let in, and that were closed to let others in
	AcceptErrors, HandshakeErrors uint64
	Waiting                       int // those on which something has come that nobody works on yet
}

// Stats are the counts as of now.
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
