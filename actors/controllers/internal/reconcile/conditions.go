package reconcile

import (
	"time"

	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Stamp is a time as objects hold it.
// The unit is seconds, which is all that times of objects hold.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Timestamp returns the time as objects hold it.
func Timestamp() string { return Stamp(time.Now()) }

// NewCondition is a condition that holds from now on.
func NewCondition(kind, status, reason, message string, now time.Time) tree.Tree {
	return tree.Tree{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": Stamp(now)}
}

// SetCondition puts a condition in the place of the one of its type, unless that has the same status and reason. The
// list that it is given is not changed.
// The time of the transition is kept while the status stays the same, since it says how long that has been so. A message
// that alone is new is not taken over; it would be a write for each wording of an error.
func SetCondition(all []any, c tree.Tree) []any {
	if old := FindCondition(all, c.String("type")); old != nil {
		if old["status"] == c["status"] && old["reason"] == c["reason"] {
			return all
		}
		if old["status"] == c["status"] {
			c["lastTransitionTime"] = old["lastTransitionTime"]
		}
	}
	return append(RemoveCondition(all, c.String("type")), c)
}

// RemoveCondition is a list of conditions without those of a type.
// It is a new list with room for one more, so appending to it does not change the one that it came from.
func RemoveCondition(all []any, kind string) []any {
	kept := make([]any, 0, len(all)+1)
	for _, c := range all {
		if condition, _ := c.(tree.Tree); condition.String("type") != kind {
			kept = append(kept, c)
		}
	}
	return kept
}

// FindCondition is the condition of a type; nil if there is none.
func FindCondition(all []any, kind string) tree.Tree {
	return condition.Find(tree.Tree{"conditions": all}, kind)
}

// WithCondition returns the conditions of a status with c in place of the one of its type, at the end, and whether that
// changes them. The time of the transition stays while the status does.
func WithCondition(status, c tree.Tree) (conditions []any, changed bool) {
	old := condition.Find(status, c.String("type"))
	if c["lastTransitionTime"] = Stamp(time.Now()); old.String("status") == c.String("status") {
		c.CopyField(old, "lastTransitionTime")
	}
	return append(RemoveCondition(status.List("conditions"), c.String("type")), c), !tree.SemanticEqual(old, c)
}

// Time returns the time in a field; the zero time if there is none.
func Time(t tree.Tree, field string) time.Time {
	at, _ := time.Parse(time.RFC3339, t.String(field))
	return at
}
