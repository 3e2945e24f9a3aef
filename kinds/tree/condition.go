package tree

// FindCondition returns the condition of a type in a status, not a copy; nil if there is none.
func FindCondition(status Tree, kind string) Tree {
	return ConditionIn(status.Objects("conditions"), kind)
}

// ConditionIn is FindCondition in a list of conditions.
func ConditionIn(conditions []Tree, kind string) Tree {
	for _, c := range conditions {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}

// IsConditionTrue reports whether the condition of a type in a status is True.
func IsConditionTrue(status Tree, kind string) bool {
	return FindCondition(status, kind).String("status") == "True"
}
