package reconcile

import (
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Stamp formats a time in UTC as RFC 3339 with second precision, as API objects do.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Timestamp returns the current time, formatted by Stamp.
func Timestamp() string { return Stamp(time.Now()) }

// NewCondition returns a condition whose lastTransitionTime is now.
func NewCondition(kind, status, reason, message string, now time.Time) tree.Tree {
	return tree.Tree{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": Stamp(now)}
}

// SetCondition replaces the condition with the type of c, and returns the new list. If c has the
// same status and reason, the list stays unchanged, so that a different message alone causes no
// write. lastTransitionTime is kept while the status is unchanged.
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

// RemoveCondition returns a new list without the conditions of a type. The list has room for one
// more condition.
func RemoveCondition(all []any, kind string) []any {
	kept := make([]any, 0, len(all)+1)
	for _, c := range all {
		if condition, _ := c.(tree.Tree); condition.String("type") != kind {
			kept = append(kept, c)
		}
	}
	return kept
}

// FindCondition returns the condition of a type, or nil.
func FindCondition(all []any, kind string) tree.Tree {
	return tree.FindCondition(tree.Tree{"conditions": all}, kind)
}

// WithCondition returns a status's conditions with c replacing the condition of the same type.
// changed reports whether c differs from the replaced condition. lastTransitionTime is kept while
// the status is unchanged.
func WithCondition(status, c tree.Tree) (conditions []any, changed bool) {
	old := tree.FindCondition(status, c.String("type"))
	if c["lastTransitionTime"] = Stamp(time.Now()); old.String("status") == c.String("status") {
		c.CopyField(old, "lastTransitionTime")
	}
	return append(RemoveCondition(status.List("conditions"), c.String("type")), c), !tree.SemanticEqual(old, c)
}

// Time returns the time in a field, or the zero time if it is missing or invalid.
func Time(t tree.Tree, field string) time.Time {
	at, _ := time.Parse(time.RFC3339, t.String(field))
	return at
}
