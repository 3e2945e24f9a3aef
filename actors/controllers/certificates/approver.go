package certificates

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// Approver approves requests of nodes for client certificates, if the requester may create the
// subresource nodeclient or, for its own name, selfnodeclient. These subresources only name
// permissions and are not served. Other requests are left to administrators.
type Approver struct {
	requests
	signer     string // in the profile
	group      string // in the profile
	authorizer authz.Authorizer
}

// NewApprover returns the controller. authorizer is consulted with the requesters' identities.
func NewApprover(env *reconcile.Env, authorizer authz.Authorizer) *Approver {
	a := &Approver{authorizer: authorizer, signer: env.Translate(nodeClientSigner), group: env.Translate(group)}
	a.requests = newRequests(env, a.approve, "")
	a.Failed = func(name string, err error) {
		level := slog.LevelWarn
		if errors.Is(err, errNotPermitted) {
			level = slog.LevelDebug
		}
		env.Log.Log(context.Background(), level, "cannot approve a certificate request", "request", name, "error", err)
	}
	a.addUpdated()
	return a
}

// errNotPermitted reports a requester without the permission. Such requests are retried with
// backoff, because it may be granted later, and not logged as warnings.
var errNotPermitted = errors.New("the subject access review was not approved")

// approve approves one request if permitted. Requests that are not node client requests are left to
// other approvers without an error.
func (a *Approver) approve(ctx context.Context, name string) error {
	r, err := a.read(ctx, name)
	if err != nil || r == nil || r.signer != a.signer || r.hasCertificate || r.has(approved) || r.has(denied) {
		return err
	}
	request, err := r.x509Request()
	if err != nil {
		return err
	}
	// A failed authorization must not hide another permission, so its reason is kept.
	rights, failure := rightsFor(r, request), ""
	for _, right := range rights {
		decision, reason := a.authorizer.Authorize(authz.Attributes{
			User: r.requester(), ResourceRequest: true, Verb: "create",
			Group: a.group, Version: "*", Resource: "certificatesigningrequests", Subresource: right.subresource,
		})
		switch decision {
		case authz.Allow:
			return a.write(ctx, r, "approval", tree.Tree{"conditions": r.with(approved, "AutoApproved", right.message)})
		case authz.Failed:
			failure = reason
		}
	}
	switch {
	case len(rights) == 0:
		return nil
	case failure != "":
		return errors.New(failure)
	}
	return fmt.Errorf("recognized as %s: %w", names(rights), errNotPermitted)
}

// A right is a permission that gets a request approved, and the message of its condition.
type right struct{ subresource, message string }

// The narrower right is checked first.
var (
	selfNodeClient = right{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."}
	nodeClient     = right{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}
)

// rightsFor returns the sufficient rights for a request, or none if the signer's policy would
// refuse it.
func rightsFor(r *signingRequest, request *x509.CertificateRequest) []right {
	if checkNodeClient(request, r.usages) != nil {
		return nil
	}
	if r.requester().Name == request.Subject.CommonName {
		return []right{selfNodeClient, nodeClient}
	}
	return []right{nodeClient}
}

func names(rights []right) string {
	var all []string
	for _, r := range rights {
		all = append(all, r.subresource)
	}
	return strings.Join(all, ", ")
}
