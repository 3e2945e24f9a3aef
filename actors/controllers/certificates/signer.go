package certificates

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/certs"
)

// Authorities holds the CAs of the built-in signers; nil disables a signer. They may be equal.
type Authorities struct{ Client, NodeClient, NodeServer, Legacy *certs.Authority }

// Signer signs approved requests for the built-in signers. A request that violates the policy fails
// permanently. Other errors, such as those of the CA, are retried.
type Signer struct {
	requests
	lifetime time.Duration
	signers  map[string]signer // by name in the naming profile
}

// A signer is a policy and its CA.
type signer struct {
	policy    signingPolicy
	authority *certs.Authority
}

// NewSigner returns the controller. lifetime is the maximum validity of certificates; requests may
// ask for less.
func NewSigner(env *reconcile.Env, cas Authorities, lifetime time.Duration) *Signer {
	s := &Signer{lifetime: lifetime, signers: map[string]signer{}}
	s.requests = newRequests(env, s.sign, "cannot sign a certificate request")
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

// sign processes one request. Requests for other signers are left alone.
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
	// The request is immutable, so retrying a violation would not help.
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

func (s *Signer) lifetimeOf(r *signingRequest) time.Duration {
	if seconds, ok := r.spec.Int("expirationSeconds"); ok {
		return min(time.Duration(seconds)*time.Second, s.lifetime)
	}
	return s.lifetime
}
