package endpoints

import (
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// triggerTimes tracks the times of the changes that caused a sync, so that users can measure the
// propagation delay of endpoints.
type triggerTimes struct {
	mu     sync.Mutex
	states map[meta.Key]*triggerState
}

type triggerState struct {
	service time.Time
	pods    map[string]time.Time // last transition of ready by uid
}

// changed records the creation time of a Service and the times at which its Pods became ready or
// unready. It returns the earliest of these times that the previous sync did not include, or zero.
func (t *triggerTimes) changed(service *target, pods []*pod) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.states[service.object.Key]
	if state == nil {
		state = &triggerState{}
	}
	var first time.Time
	note := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	seen := make(map[string]time.Time, len(pods))
	for _, p := range pods {
		if p.readySince.IsZero() {
			continue
		}
		seen[p.uid.String()] = p.readySince
		if p.readySince.After(state.pods[p.uid.String()]) {
			note(p.readySince)
		}
	}
	if service.created.After(state.service) {
		note(service.created)
	}
	if state.service.IsZero() {
		first = service.created
	}
	state.service, state.pods = service.created, seen
	if t.states == nil {
		t.states = map[meta.Key]*triggerState{}
	}
	t.states[service.object.Key] = state
	return first
}

func (t *triggerTimes) forget(key meta.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.states, key)
}
