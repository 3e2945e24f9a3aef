package troupetest

import "sync"

// maxLogBytes bounds what is kept of a log.
const maxLogBytes = 1 << 20

// A logBuffer keeps the end of a log in memory.
type logBuffer struct {
	mu  sync.Mutex
	log []byte
	cut bool // something was dropped from the front
}

// Write implements io.Writer. What is beyond the bound goes in large steps, so that it is not moved with each line.
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

// String is what is kept.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut {
		return "…" + string(b.log)
	}
	return string(b.log)
}
