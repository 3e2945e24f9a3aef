package rbac

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Whether the author may hand out these rights is for admission (policy/authz/rbac), not for the rules of the kind.
type roleStrategy struct {
	schema.DefaultStrategy
	dropEmptyRules
}

// dropEmptyRules sets empty rules to null, so that a role without rules reads the same however it
// was written.
type dropEmptyRules struct{}

func (dropEmptyRules) Prepare(obj, _ tree.Tree) {
	if len(obj.List("rules")) == 0 {
		delete(obj, "rules")
	}
}

// A bindingStrategy is that of the bindings of one scope. A binding in a namespace may refer to a
// role of the namespace or of the cluster; one of the cluster only to the latter, since a role of a
// namespace means nothing outside.
type bindingStrategy struct {
	schema.DefaultStrategy
	group string // of users and groups
}

// Default sets the API group of subjects that are users and groups.
//
// Service accounts have no group: they are objects of the core group.
func (c bindingStrategy) Default(obj tree.Tree) {
	for _, s := range obj.Objects("subjects") {
		if kind := s.String("kind"); (kind == "User" || kind == "Group") && s.String("apiGroup") == "" {
			s["apiGroup"] = c.group
		}
	}
}
