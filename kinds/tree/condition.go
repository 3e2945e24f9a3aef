package tree

// FindCondition returns the condition of the given type in a status, or nil. It does not copy it.
func FindCondition(status Tree, kind string) Tree {
	return ConditionIn(status.Objects("conditions"), kind)
}

// ConditionIn returns the condition of the given type in a list, or nil. It does not copy it.
func ConditionIn(conditions []Tree, kind string) Tree {
	for _, c := range conditions {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}

// IsConditionTrue reports whether a status has a true condition of the given type.
func IsConditionTrue(status Tree, kind string) bool {
	return FindCondition(status, kind).String("status") == "True"
}
