package certificates

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/certs"
)

// Authorities holds the CAs of the built-in signers. A nil CA disables its signer. Signers may
// share a CA.
type Authorities struct{ Client, NodeClient, NodeServer, Legacy *certs.Authority }

// Signer signs approved CertificateSigningRequests for the built-in signers. A request that
// violates the signer's policy fails permanently. Other errors, such as CA errors, are retried.
type Signer struct {
	requests
	lifetime time.Duration
	signers  map[string]signer // by name in the naming profile
}

type signer struct {
	policy    signingPolicy
	authority *certs.Authority
}

// NewSigner returns a new Signer. lifetime is the maximum validity of certificates. Requests may
// specify less.
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
	// Do not retry. The request is immutable, so the violation is permanent.
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
