// Package authorization holds the rules of access reviews.
//
// Whoever may create a SubjectAccessReview learns what others may do; the review of oneself is open to
// everybody.
package authorization
