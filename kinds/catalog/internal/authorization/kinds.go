package authorization

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of authorization with their functions.
//
// They have no storage: a create is answered with the decision, by an operation of package http.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "authorization.platform.io/v1/LocalSubjectAccessReview", Rules: localAccessReviewRules()},
		{Name: "authorization.platform.io/v1/SelfSubjectAccessReview", Rules: selfAccessReviewRules()},
		{Name: "authorization.platform.io/v1/SubjectAccessReview", Rules: accessReviewRules()},
	}
}
