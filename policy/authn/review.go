package authn

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reviewer completes TokenReviews by authenticating their tokens.
type Reviewer struct {
	Authenticator Authenticator
	// Audiences lists the audiences of this server.
	Audiences []string
}

// invalidTokenMessage is the error in a TokenReview status, unless the error is a RejectionError.
const invalidTokenMessage = "invalid bearer token"

// Token completes a TokenReview with the authenticated user and the matching audiences. The error
// is a *meta.Status.
func (r *Reviewer) Token(review tree.Tree) (tree.Tree, error) {
	spec := review.Object("spec")
	token := spec.String("token")
	if token == "" {
		return nil, meta.NewBadRequest("token is required for TokenReview in authentication")
	}
	status := tree.Tree{}
	review["status"] = status
	asked := spec.Strings("audiences")
	user, err := r.Authenticator.Authenticate(Request{Token: token, HasToken: true, Audiences: asked})
	if err != nil {
		status["error"] = invalidTokenMessage
		var refusal *RejectionError
		if errors.As(err, &refusal) {
			status["error"] = refusal.Message
		}
		return review, nil
	}
	audiences := r.audiencesFor(user, asked)
	if user == nil || len(asked) > 0 && len(audiences) == 0 {
		status["error"] = invalidTokenMessage
		return review, nil
	}
	status["authenticated"], status["user"] = true, user.Tree()
	if len(audiences) > 0 {
		status["audiences"] = tree.ListOf(audiences)
	}
	return review, nil
}

func (r *Reviewer) audiencesFor(user *User, asked []string) []string {
	if user == nil {
		return nil
	}
	good := user.Audiences
	if good == nil {
		good = r.Audiences
	}
	return IntersectAudiences(asked, good)
}

// SelfReview completes a SelfSubjectReview with the requesting user. now is an RFC 3339 time.
func SelfReview(review tree.Tree, user *User, now string) tree.Tree {
	review.EnsureObject("metadata")["creationTimestamp"] = now
	review["status"] = tree.Tree{"userInfo": user.Tree()}
	return review
}
