package server

import (
	"sync"
	"time"
)

// peakPeriod is the time between two looks at the memory.
const peakPeriod = 20 * time.Millisecond

// Peak watches the resident memory of processes. The kernel's own high-water mark is that of the whole life
// of a process, not of one load.
type Peak struct {
	processes []int
	quit      chan struct{}
	watching  sync.WaitGroup
	highest   int64 // bytes; the watcher's until it has ended
}

// StartPeak begins to watch the memory of processes. Stop of the Peak ends it.
func StartPeak(processes []int) *Peak {
	p := &Peak{processes: processes, quit: make(chan struct{})}
	if len(processes) > 0 {
		p.watching.Go(p.watch)
	}
	return p
}

func (p *Peak) watch() {
	ticker := time.NewTicker(peakPeriod)
	defer ticker.Stop()
	for {
		if usage, err := ReadUsage(p.processes); err == nil {
			p.highest = max(p.highest, usage.Resident)
		}
		select {
		case <-ticker.C:
		case <-p.quit:
			return
		}
	}
}

// Stop returns the highest memory that was seen, in bytes; 0 if there was no process to look at.
func (p *Peak) Stop() int64 {
	close(p.quit)
	p.watching.Wait()
	return p.highest
}
