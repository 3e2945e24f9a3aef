package http

// A hold is what a request takes from the others until its answer is written: a place among
// the requests in flight, and bytes of the budget of answers.
type hold struct {
	limiter *limiter
	budget  *budget
	bytes   int64
}

// leave ends the counting of a request that is counted.
func (h *hold) leave() {
	if h.limiter != nil {
		h.limiter.leave()
		h.limiter = nil
	}
}

// release gives back what is held, once.
func (h *hold) release() {
	h.leave()
	if h.bytes > 0 {
		h.budget.used.Add(-h.bytes)
	}
	*h = hold{}
}

// shrink gives back the bytes beyond n: the body is made.
func (h *hold) shrink(n int64) {
	if h.bytes > n {
		h.budget.used.Add(n - h.bytes)
		h.bytes = n
	}
}

// reserve takes bytes of memory for the answer, or refuses to make it.
func (s *Server) reserve(x *exchange, n int64) error {
	if n <= smallAnswer {
		return nil
	}
	if !s.answers.take(n, s.limiters.system(x.user)) {
		return tooManyRequests()
	}
	x.hold.budget, x.hold.bytes = &s.answers, x.hold.bytes+n
	return nil
}

// reserveObject takes the memory in which an object of that size is put into another form than
// it has in the store. What answers a change is made in any case: it tells what has been done.
func (s *Server) reserveObject(x *exchange, size int) error {
	if size <= smallAnswer {
		return nil
	}
	room := int64(answerRoom)
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
		return s.reserve(x, room)
	}
	s.answers.used.Add(room)
	x.hold.budget, x.hold.bytes = &s.answers, x.hold.bytes+room
	return nil
}
