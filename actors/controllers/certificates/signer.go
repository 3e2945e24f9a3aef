package certificates

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/certs"
)

// Authorities are the CAs of the signers that every cluster has; nil where nobody signs for one. Several may be the
// same one.
type Authorities struct{ Client, NodeClient, NodeServer, Legacy *certs.Authority }

// Signer signs approved requests to the signers that every cluster has. A request that breaks the policy of its
// signer fails for good. An error that may pass, such as one of the CA, leaves the request as it is, to be tried
// again.
type Signer struct {
	requests
	lifetime time.Duration
	signers  map[string]signer // by the name in the profile
}

// A signer is a policy and the CA that stands behind it.
type signer struct {
	policy    signingPolicy
	authority *certs.Authority
}

// NewSigner returns the controller. lifetime is the longest of a certificate; a request may ask for a shorter one.
// Names of signers are translated once, so that requests are compared with them as clients write them.
func NewSigner(env *reconcile.Env, cas Authorities, lifetime time.Duration) *Signer {
	s := &Signer{lifetime: lifetime, signers: map[string]signer{}}
	s.requests = newRequests(env, s.sign, "a certificate request is not signed")
	s.addUpdated()
	for name, authority := range map[string]*certs.Authority{
		clientSigner: cas.Client, nodeClientSigner: cas.NodeClient, nodeServerSigner: cas.NodeServer, legacySigner: cas.Legacy,
	} {
		if authority != nil {
			s.signers[env.Translate(name)] = signer{policies[name], authority}
		}
	}
	return s
}

// sign does what is due of one request. Other signers' requests are left alone, whatever they look like.
func (s *Signer) sign(ctx context.Context, name string) error {
	r, err := s.read(ctx, name)
	if err != nil || r == nil {
		return err
	}
	by, ours := s.signers[r.signer]
	if !ours || r.hasCertificate || !r.has(approved) || r.has(denied) || r.has(failed) {
		return nil
	}
	request, err := r.x509Request()
	if err != nil {
		return err
	}
	// A breach of the policy is in the request itself, which cannot be changed: to try again would not help.
	if err := by.policy(request, r.usages); err != nil {
		return s.write(ctx, r, "status", tree.Tree{"conditions": r.with(failed, "SignerValidationFailure", err.Error())})
	}
	template := certs.Template{Request: request, Lifetime: s.lifetimeOf(r)}
	if template.KeyUsage, template.ExtKeyUsages, err = parseUsages(r.usages); err != nil {
		return err
	}
	text, err := by.authority.Sign(template, s.now())
	if err != nil {
		return err
	}
	return s.write(ctx, r, "status", tree.Tree{"certificate": base64.StdEncoding.EncodeToString(text)})
}

// lifetimeOf is the smaller one of what a request asks for and what the operator allows. A request that asks for
// nothing gets the longest.
func (s *Signer) lifetimeOf(r *signingRequest) time.Duration {
	if seconds, ok := r.spec.Int("expirationSeconds"); ok {
		return min(time.Duration(seconds)*time.Second, s.lifetime)
	}
	return s.lifetime
}
