package client

import (
	"bytes"
	"sync"
)

// Log collects a server's log output. It can be read while the server writes.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns all output so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
