package request

import (
	"slices"
	"sync"
)

// A Recorder takes what is to be told of a mutation beside its outcome, whether it succeeds or not:
// warnings for the client, and annotations for the audit event. Many goroutines may use it, also
// after the request was given up. The nil Recorder takes nothing.
type Recorder struct {
	mu          sync.Mutex
	warnings    []string
	warned      int // bytes of the warnings
	annotations []Annotation
	byKey       map[string]int // the index of each annotation; nil while they are few
}

// fewAnnotations are searched one after the other. A webhook may answer with a hundred thousand.
const fewAnnotations = 16

// An Annotation is a fact for the audit event of a request.
type Annotation struct {
	Key, Value string
	// Detailed facts are only for events that hold the body of the request.
	Detailed bool
}

// Reset forgets everything: the mutation begins again.
func (r *Recorder) Reset() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings, r.warned, r.annotations, r.byKey = nil, 0, nil, nil
}

// maxWarnings bounds the warnings that are kept, in bytes. It is much more than headers have room for; policies and
// webhooks may have much more to say.
const maxWarnings = 64 << 10

// Warn adds texts for Warning headers. Those that there is no room for are left out.
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

// Annotate adds an annotation. The first one of a key counts: it is false for another one with another value.
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

// find is the index of the annotation of a key; -1 if there is none.
func (r *Recorder) find(key string) int {
	if r.byKey == nil {
		return slices.IndexFunc(r.annotations, func(known Annotation) bool { return known.Key == key })
	}
	if i, ok := r.byKey[key]; ok {
		return i
	}
	return -1
}

// Add takes over what another Recorder has.
func (r *Recorder) Add(other *Recorder) {
	warnings, annotations := other.Recorded()
	r.Warn(warnings...)
	for _, a := range annotations {
		r.Annotate(a)
	}
}

// Recorded is what has been recorded so far, in its order.
func (r *Recorder) Recorded() (warnings []string, annotations []Annotation) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.warnings), slices.Clone(r.annotations)
}

// Warned tells whether there are warnings.
func (r *Recorder) Warned() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.warnings) > 0
}
