package scenario

// spareDescriptors are kept for files, pipes and the connections that are not counted.
const spareDescriptors = 256

// scaledSize is the size of a scenario under --scale; another size than the scenario's own is noted. A
// figure without that note could be taken for one of the full size.
func (s *Session) scaledSize(what string, n int) int {
	scaled := max(1, int(float64(n)*s.Scale))
	if scaled != n {
		s.Note("%s: %d instead of %d (--scale %v)", what, scaled, n, s.Scale)
	}
	return scaled
}

// connections is how many of n connections can be opened beside the workers'. Fewer than asked for are
// noted. The client and the server both need a descriptor for each, on one machine from limits of their
// own.
func (s *Session) connections(what string, n int) int {
	// At least one is left under any limit, so that the workload runs into the system's own error and not into an empty result.
	room := max(1, s.Descriptors-spareDescriptors-s.Concurrency)
	if s.Descriptors == 0 || n <= room {
		return n
	}
	s.Note("%s: %d instead of %d, because a process may open %d files here (ulimit -Hn)", what, room, n, s.Descriptors)
	return room
}
