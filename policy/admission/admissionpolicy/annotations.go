package admissionpolicy

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/request"
)

const (
	// maxValue is the maximum length of an annotation value in bytes.
	maxValue = 10 << 10
	// maxAnnotation is the maximum length of an annotation in bytes, because a policy may be
	// evaluated for thousands of params.
	maxAnnotation = 64 << 10
)

type annotations map[string]*values

type values struct {
	texts []string
	bytes int
}

// add adds a value unless it is a duplicate or the annotation would become too long.
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

const separator = ", "

// publish adds the annotations to the audit event. It runs after all bindings, because each
// annotation can be set only once.
func (n annotations) publish(policy string, a *request.Attributes) {
	if len(n) == 0 {
		return // the usual case
	}
	for _, key := range slices.Sorted(maps.Keys(n)) {
		a.Annotate(policy+"/"+key, strings.Join(n[key].texts, separator))
	}
}
