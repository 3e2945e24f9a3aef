package troupetest

import "sync"

const maxLogBytes = 1 << 20

// A logBuffer keeps the last maxLogBytes of a log.
type logBuffer struct {
	mu  sync.Mutex
	log []byte
	cut bool // the beginning was dropped
}

// Write drops old bytes in bulk, to avoid moving the buffer for each line.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, p...)
	if over := len(b.log) - maxLogBytes; over > 0 {
		b.log = append(b.log[:0], b.log[max(over, maxLogBytes/2):]...)
		b.cut = true
	}
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut {
		return "…" + string(b.log)
	}
	return string(b.log)
}
