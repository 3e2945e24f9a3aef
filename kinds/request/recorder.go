package request

import (
	"slices"
	"sync"
)

// A Recorder collects a mutation's client warnings and audit annotations, even if the mutation
// fails. It is safe for concurrent use, because an abandoned request may still write to it. A nil
// Recorder discards everything.
type Recorder struct {
	mu          sync.Mutex
	warnings    []string
	warned      int // total bytes of warnings
	annotations []Annotation
	byKey       map[string]int // annotation indexes; nil for few annotations
}

// fewAnnotations is the largest number of annotations that find searches linearly. Beyond that, it
// uses the map byKey, because a webhook may return 100,000 annotations.
const fewAnnotations = 16

type Annotation struct {
	Key, Value string
	// Detailed annotations are added only to audit events that include the request body.
	Detailed bool
}

// Reset discards everything recorded so far. It is called when the mutation restarts.
func (r *Recorder) Reset() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings, r.warned, r.annotations, r.byKey = nil, 0, nil, nil
}

// maxWarnings limits the size of the recorded warnings, in bytes, because policies and webhooks may
// return any number. It far exceeds the space in headers.
const maxWarnings = 64 << 10

// Warn adds warnings for Warning headers. It drops warnings beyond maxWarnings.
func (r *Recorder) Warn(texts ...string) {
	if r == nil || len(texts) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range texts {
		if r.warned+len(text) > maxWarnings {
			return
		}
		r.warnings = append(r.warnings, text)
		r.warned += len(text) + 1
	}
}

// Annotate adds an annotation. It keeps an existing annotation with the same key, and returns false
// if the two differ.
func (r *Recorder) Annotate(a Annotation) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(a.Key); i >= 0 {
		return r.annotations[i] == a
	}
	r.annotations = append(r.annotations, a)
	switch {
	case r.byKey != nil:
		r.byKey[a.Key] = len(r.annotations) - 1
	case len(r.annotations) > fewAnnotations:
		r.byKey = make(map[string]int, 2*fewAnnotations)
		for i, known := range r.annotations {
			r.byKey[known.Key] = i
		}
	}
	return true
}

func (r *Recorder) find(key string) int {
	if r.byKey == nil {
		return slices.IndexFunc(r.annotations, func(known Annotation) bool { return known.Key == key })
	}
	if i, ok := r.byKey[key]; ok {
		return i
	}
	return -1
}

// Add adds the warnings and annotations of another Recorder.
func (r *Recorder) Add(other *Recorder) {
	warnings, annotations := other.Recorded()
	r.Warn(warnings...)
	for _, a := range annotations {
		r.Annotate(a)
	}
}

// Recorded returns the warnings and annotations recorded so far, in order.
func (r *Recorder) Recorded() (warnings []string, annotations []Annotation) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.warnings), slices.Clone(r.annotations)
}

// Warned reports whether any warning has been recorded.
func (r *Recorder) Warned() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.warnings) > 0
}
