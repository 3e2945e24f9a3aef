package authorization

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of authorization with their strategies.
//
// They have no storage: a create is answered with the decision, by an operation of package http.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "authorization.platform.io/v1/LocalSubjectAccessReview", Strategy: localAccessReviewStrategy{}},
		{Name: "authorization.platform.io/v1/SelfSubjectAccessReview", Strategy: selfAccessReviewStrategy{}},
		{Name: "authorization.platform.io/v1/SubjectAccessReview", Strategy: accessReviewStrategy{}},
	}
}
