package selector

import (
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Labels is a label selector. The zero value selects everything.
type Labels struct{ requirements []requirement }

type operator uint8

const (
	exists operator = iota
	doesNotExist
	in    // also for = and ==
	notIn // also for !=
	greaterThan
	lessThan
)

type requirement struct {
	key    string
	op     operator
	values []string
	number int64 // for greaterThan and lessThan
}

// Empty reports whether l selects everything.
func (l Labels) Empty() bool { return len(l.requirements) == 0 }

// Size returns the number of requirements plus the number of their values.
func (l Labels) Size() (n int) {
	for i := range l.requirements {
		n += 1 + len(l.requirements[i].values)
	}
	return n
}

// Matches reports whether the labels meet every requirement.
func (l Labels) Matches(labels meta.Labels) bool {
	for i := range l.requirements {
		if !l.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// matches reports whether labels meet the requirement. As in Kubernetes, key!=v and key notin
// (v) also match objects without the label.
func (r *requirement) matches(labels meta.Labels) bool {
	v, has := labels.Get(r.key)
	switch r.op {
	case exists:
		return has
	case doesNotExist:
		return !has
	case in:
		return has && slices.Contains(r.values, v)
	case notIn:
		return !has || !slices.Contains(r.values, v)
	}
	if !has {
		return false
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return false
	}
	if r.op == greaterThan {
		return n > r.number
	}
	return n < r.number
}

// Value returns the only value that l allows for a label, if any. Callers use it for index lookups.
func (l Labels) Value(key string) (string, bool) {
	for i := range l.requirements {
		r := &l.requirements[i]
		if r.key == key && r.op == in && len(r.values) == 1 {
			return r.values[0], true
		}
	}
	return "", false
}
