package main

import (
	"sync"
	"time"
)

// peakPeriod is the time between two looks at the memory.
const peakPeriod = 20 * time.Millisecond

// peak watches the resident memory of processes.
type peak struct {
	processes []int
	quit      chan struct{}
	watching  sync.WaitGroup
	highest   int64 // bytes; the watcher's until it has ended
}

func startPeak(processes []int) *peak {
	p := &peak{processes: processes, quit: make(chan struct{})}
	if len(processes) > 0 {
		p.watching.Go(p.watch)
	}
	return p
}

func (p *peak) watch() {
	ticker := time.NewTicker(peakPeriod)
	defer ticker.Stop()
	for {
		if usage, err := readUsage(p.processes); err == nil {
			p.highest = max(p.highest, usage.Resident)
		}
		select {
		case <-ticker.C:
		case <-p.quit:
			return
		}
	}
}

// stop returns the highest memory that was seen, in bytes; 0 if there was no process to look at.
func (p *peak) stop() int64 {
	close(p.quit)
	p.watching.Wait()
	return p.highest
}
