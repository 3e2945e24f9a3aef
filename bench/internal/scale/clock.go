package scale

import "container/heap"

// clock runs what is planned in the order of time. What is planned for the same moment runs in the order in which it was planned.
type clock struct {
	now     float64
	planned plan
	count   int
}

type event struct {
	at    float64
	order int
	do    func()
}

// after plans something.
func (c *clock) after(delay float64, do func()) {
	c.count++
	heap.Push(&c.planned, event{c.now + delay, c.count, do})
}

// step goes on to the next event; false if there is none.
func (c *clock) step() bool {
	if len(c.planned) == 0 {
		return false
	}
	next := heap.Pop(&c.planned).(event)
	c.now = next.at
	next.do()
	return true
}

// plan implements heap.Interface.
type plan []event

func (p plan) Len() int      { return len(p) }
func (p plan) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p plan) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].order < p[j].order
}
func (p *plan) Push(e any) { *p = append(*p, e.(event)) }
func (p *plan) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// work takes time, and then something follows.
type work struct {
	takes float64
	then  func()
}

// machine is a number of processors. Work that finds none free waits in the order of its arrival.
type machine struct {
	*clock
	processors, busy int
	left             float64 // what others leave of each processor, from 0 to 1
	waiting          []work
	used             float64 // by all processors
}

// run does work as soon as a processor is free.
func (m *machine) run(takes float64, then func()) {
	if m.busy == m.processors {
		m.waiting = append(m.waiting, work{takes, then})
		return
	}
	m.busy++
	m.used += takes
	m.after(takes/m.left, func() {
		m.busy--
		if len(m.waiting) > 0 {
			next := m.waiting[0]
			m.waiting = m.waiting[1:]
			m.run(next.takes, next.then)
		}
		then()
	})
}

// worker does one thing after the other on a machine.
type worker struct {
	*machine
	working bool
	queue   []work
	spent   float64
}

func (w *worker) do(takes float64, then func()) {
	if w.working {
		w.queue = append(w.queue, work{takes, then})
		return
	}
	w.working = true
	w.spent += takes
	w.run(takes, func() {
		w.working = false
		if len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			w.do(next.takes, next.then)
		}
		then()
	})
}
