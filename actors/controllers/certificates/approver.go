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

// Approver approves requests of nodes for client certificates, if whoever asks has the right to have them approved: to
// create the sub-resource nodeclient of requests or, for a certificate in their own name, selfnodeclient.
// Neither sub-resource is served; it is a name for the right. All other requests are for people to decide.
type Approver struct {
	requests
	signer     string // in the profile
	group      string // in the profile
	authorizer authz.Authorizer
}

// NewApprover returns the controller. The authorizer answers for users as it would for their requests.
func NewApprover(env *reconcile.Env, authorizer authz.Authorizer) *Approver {
	a := &Approver{authorizer: authorizer, signer: env.Translate(nodeClientSigner), group: env.Translate(group)}
	a.requests = newRequests(env, a.approve, "")
	a.Failed = func(name string, err error) {
		level := slog.LevelWarn
		if errors.Is(err, errNotPermitted) {
			level = slog.LevelDebug
		}
		env.Log.Log(context.Background(), level, "a certificate request is not approved", "request", name, "error", err)
	}
	a.addUpdated()
	return a
}

// errNotPermitted is for requests that nobody has the right to have approved. They are tried again, less and less
// often, since that right may be given later; it is no reason to warn.
var errNotPermitted = errors.New("the subject access review was not approved")

// approve approves one request if it may be. A request that is not one of a node for this signer is not an error:
// somebody else decides about it, and it is looked at again only when it changes.
func (a *Approver) approve(ctx context.Context, name string) error {
	r, err := a.read(ctx, name)
	if err != nil || r == nil || r.signer != a.signer || r.hasCertificate || r.has(approved) || r.has(denied) {
		return err
	}
	request, err := r.x509Request()
	if err != nil {
		return err
	}
	// An authorizer that failed must not hide that another right is there, so its reason is kept until all were asked
	// for.
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

// A right is one that makes a request be approved, and what its condition then says.
type right struct{ subresource, message string }

// The rights, of which the narrower one is asked for first.
var (
	selfNodeClient = right{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."}
	nodeClient     = right{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}
)

// rightsFor are the rights that do for a request; none if it is not one of a node that could be signed. The same
// check is the policy of the signer, so nothing is approved that would then fail to be signed.
func rightsFor(r *signingRequest, request *x509.CertificateRequest) []right {
	if checkNodeClient(request, r.usages) != nil {
		return nil
	}
	if r.requester().Name == request.Subject.CommonName {
		return []right{selfNodeClient, nodeClient}
	}
	return []right{nodeClient}
}

// names lists rights for a message.
func names(rights []right) string {
	var all []string
	for _, r := range rights {
		all = append(all, r.subresource)
	}
	return strings.Join(all, ", ")
}
