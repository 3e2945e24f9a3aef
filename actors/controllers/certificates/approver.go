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

// Approver approves nodes' requests for client certificates. The requester must be allowed to
// create the subresource nodeclient or, for its own name, selfnodeclient. These subresources exist
// only for authorization and are not served. Administrators decide on other requests.
type Approver struct {
	requests
	signer     string // in the profile
	group      string // in the profile
	authorizer authz.Authorizer
}

// NewApprover returns an Approver that authorizes requesters with authorizer.
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

// errNotPermitted means that the requester lacks the permission. Such requests are retried with
// backoff, because the permission may be granted later, and are not logged as warnings.
var errNotPermitted = errors.New("the subject access review was not approved")

// approve approves one request if permitted. It leaves other kinds of requests to other approvers.
func (a *Approver) approve(ctx context.Context, name string) error {
	r, err := a.read(ctx, name)
	if err != nil || r == nil || r.signer != a.signer || r.hasCertificate || r.has(approved) || r.has(denied) {
		return err
	}
	request, err := r.x509Request()
	if err != nil {
		return err
	}
	// A failed check does not end the loop, because another permission may be enough.
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

type right struct{ subresource, message string }

// Permissions that allow approval of a node client request, narrowest first.
var (
	selfNodeClient = right{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."}
	nodeClient     = right{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}
)

// rightsFor returns the rights that allow approving a request. Any one of them is enough.
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
