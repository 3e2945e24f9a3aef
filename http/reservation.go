package http

// A hold is what a request takes from the others until its answer is written: a place among
// the requests in flight, and bytes of the budget of answers.
type reservation struct {
	limiter *limiter
	budget  *budget
	bytes   int64
}

// releaseSlot ends the counting of a request that is counted.
func (h *reservation) releaseSlot() {
	if h.limiter != nil {
		h.limiter.release()
		h.limiter = nil
	}
}

// release gives back what is held, once.
func (h *reservation) release() {
	h.releaseSlot()
	if h.bytes > 0 {
		h.budget.used.Add(-h.bytes)
	}
	*h = reservation{}
}

// shrink gives back the bytes beyond n: the body is made.
func (h *reservation) shrink(n int64) {
	if h.bytes > n {
		h.budget.used.Add(n - h.bytes)
		h.bytes = n
	}
}

// reserveResponse takes bytes of memory for the answer, or refuses to make it.
func (s *Server) reserveResponse(x *requestContext, n int64) error {
	if n <= maxBufferedResponse {
		return nil
	}
	if !s.responseBudget.tryAcquire(n, s.limiters.isSystemUser(x.user)) {
		return tooManyRequests()
	}
	x.reservation.budget, x.reservation.bytes = &s.responseBudget, x.reservation.bytes+n
	return nil
}

// reserveObjectResponse takes the memory in which an object of that size is put into another form than
// it has in the store. What answers a change is made in any case: it tells what has been done.
func (s *Server) reserveObjectResponse(x *requestContext, size int) error {
	if size <= maxBufferedResponse {
		return nil
	}
	room := int64(responseOverhead)
	switch {
	case x.format.media == mediaYAML:
		room += int64(size) * yamlGrowth
	case x.format.media == mediaProtobuf:
		room += int64(size) * protobufGrowth
	case x.format.shape != shapeWhole:
		room += int64(size) * 2
	case !x.format.pretty:
		return nil
	}
	if x.info.Verb == "get" {
		return s.reserveResponse(x, room)
	}
	s.responseBudget.used.Add(room)
	x.reservation.budget, x.reservation.bytes = &s.responseBudget, x.reservation.bytes+room
	return nil
}
