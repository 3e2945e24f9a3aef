package admissionpolicy

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/request"
)

const (
	// maxValue is the longest value that one evaluation adds to an annotation, in bytes.
	maxValue = 10 << 10
	// maxAnnotation is the longest annotation. A policy may be evaluated for thousands of parameters.
	maxAnnotation = 64 << 10
)

// annotations are the values that the bindings of a policy give to its annotations, by their keys.
type annotations map[string]*values

// values are those of one annotation, with the bytes that they take.
type values struct {
	texts []string
	bytes int
}

// Bindings of one policy often find the same; audit events hold each value once. What an annotation has no room for
// is left out.
func (n annotations) add(key, value string) {
	if len(value) > maxValue {
		value = strings.ToValidUTF8(value[:maxValue], "")
	}
	v := n[key]
	if v == nil {
		v = &values{}
		n[key] = v
	}
	if v.bytes+len(value) <= maxAnnotation && !slices.Contains(v.texts, value) {
		v.texts = append(v.texts, value)
		v.bytes += len(value) + len(separator)
	}
}

// separator is between the values of an annotation.
const separator = ", "

// publish adds the annotations to the audit event. They are joined only when all bindings have been
// evaluated, as an annotation can be set only once.
func (n annotations) publish(policy string, a *request.Attributes) {
	if len(n) == 0 {
		return // as usual, and then nothing is sorted
	}
	for _, key := range slices.Sorted(maps.Keys(n)) {
		a.Annotate(policy+"/"+key, strings.Join(n[key].texts, separator))
	}
}
