package certificates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// servingSigner is the signerName of the ClusterTrustBundle that holds the server's own CAs, in the
// platform naming profile. No controller signs requests for this signer.
const servingSigner = "platform.io/apiserver-serving"

// TrustBundlePublisher maintains a ClusterTrustBundle with the server's CAs. The bundle's name ends
// with a digest of the CAs. When the CAs change, it creates the new bundle before it deletes the
// old one.
type TrustBundlePublisher struct {
	*reconcile.Controller[string]
	bundles reconcile.Client
	signer  string
	roots   func() []byte
}

// NewTrustBundlePublisher returns a new TrustBundlePublisher. It does nothing if
// ClusterTrustBundles are not served. roots returns the current CAs as PEM. The caller must call
// Publish when they change.
func NewTrustBundlePublisher(env *reconcile.Env, roots func() []byte) *TrustBundlePublisher {
	p := &TrustBundlePublisher{signer: env.Translate(servingSigner), roots: roots}
	if k := env.Kinds.Kind(env.Translate(group), "v1", "clustertrustbundles"); k != nil {
		p.bundles = env.ClientOf(k)
	}
	p.Controller = reconcile.New(env, "ca_cert_publisher_cluster_trust_bundles", p.ensure, "cannot publish the CAs of the server", "signer")
	p.Watch(p.bundles, func(e reconcile.Event) {
		if strings.HasPrefix(e.Key.Name, p.prefix()) {
			p.Publish()
		}
	}).Synced = p.Publish
	return p
}

// Publish schedules an update of the bundle and returns immediately.
func (p *TrustBundlePublisher) Publish() {
	if p.bundles.Kind != nil {
		p.Add(p.signer)
	}
}

func (p *TrustBundlePublisher) prefix() string { return strings.ReplaceAll(p.signer, "/", ":") + ":" }

// ensure creates or corrects the bundle before it deletes old ones, so that a bundle always exists.
func (p *TrustBundlePublisher) ensure(ctx context.Context, _ string) error {
	text, err := onlyCAs(p.roots())
	if err != nil {
		return err
	}
	digest := sha256.Sum256(text)
	name := fmt.Sprintf("%s%x", p.prefix(), digest[:12])
	if err := p.ensureBundle(ctx, name, string(text)); err != nil {
		return err
	}
	return p.deleteOthers(ctx, name)
}

func (p *TrustBundlePublisher) deleteOthers(ctx context.Context, name string) error {
	list, err := p.bundles.List(ctx, request.List{})
	if err != nil {
		return err
	}
	var faults []error
	for _, o := range list {
		if o.Key.Name != name && strings.HasPrefix(o.Key.Name, p.prefix()) {
			faults = append(faults, p.bundles.Delete(ctx, o))
		}
	}
	return errors.Join(faults...)
}

func (p *TrustBundlePublisher) ensureBundle(ctx context.Context, name, text string) error {
	o, object, err := p.bundles.ReadNamed(ctx, "", name)
	spec := tree.Tree{"signerName": p.signer, "trustBundle": text}
	switch {
	case err != nil:
		return err
	case o == nil:
		_, err = p.bundles.Create(ctx, tree.Tree{"metadata": tree.Tree{"name": name}, "spec": spec})
		return err
	case object.Object("spec").String("trustBundle") == text:
		return nil
	}
	return p.bundles.Patch(ctx, o, "", tree.Tree{"spec": spec})
}

// onlyCAs returns the distinct CA certificates in PEM data, because the server's chain may contain
// other certificates.
func onlyCAs(text []byte) ([]byte, error) {
	var cas []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !c.IsCA {
			continue
		}
		if one := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); !bytes.Contains(cas, one) {
			cas = append(cas, one...)
		}
	}
	if cas == nil {
		return nil, errors.New("the server presents no certificate of a CA")
	}
	return cas, nil
}
