package certificates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// servingSigner is the one in whose name the server's own roots are published, in platform form. It signs no requests.
const servingSigner = "platform.io/apiserver-serving"

// TrustBundlePublisher keeps a ClusterTrustBundle with the CAs by which to recognise the server. Its name ends with a
// digest of them: other CAs are another bundle, and the one before goes when that is there.
type TrustBundlePublisher struct {
	store  Store
	kind   *schema.Kind // in which bundles are stored; nil while none are served
	signer string       // in the profile
	roots  func() []byte
	logger *slog.Logger
	queue  *reconcile.Workqueue[string] // of one key: bundles are looked at together
}

// NewTrustBundlePublisher returns the controller. It does nothing where the kind is not served. roots is the PEM text
// of the certificates as they are now; Publish is to be called when it changes.
func NewTrustBundlePublisher(store Store, kinds *catalog.Catalog, roots func() []byte, logger *slog.Logger) *TrustBundlePublisher {
	p := &TrustBundlePublisher{
		store: store, signer: kinds.Naming().Translate(servingSigner), roots: roots, logger: logger,
		queue: reconcile.NewWorkqueue[string]().Named("ca_cert_publisher_cluster_trust_bundles"),
	}
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		if k := kinds.Kind(kinds.Naming().Translate(group), version, "clustertrustbundles"); k != nil {
			p.kind = k.Stored
		}
	}
	return p
}

// Publish brings the bundle up to date. It only queues the work and returns at once.
func (p *TrustBundlePublisher) Publish() { p.queue.Add(p.signer) }

// Run runs the controller until the context ends.
func (p *TrustBundlePublisher) Run(ctx context.Context) {
	if p.kind == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, p.store, p.kind, p) })
	p.queue.Run(ctx, p.ensure, func(signer string, err error) {
		p.logger.Warn("the certificates of the server are not published", "signer", signer, "error", err)
	})
}

// OnEvent implements reconcile.EventHandler. Bundles of other signers are none of its business.
func (p *TrustBundlePublisher) OnEvent(e reconcile.Event) {
	if strings.HasPrefix(e.Key.Name, p.prefix()) {
		p.Publish()
	}
}

// OnSynced implements reconcile.EventHandler. Where there is no bundle yet, no event would ever start the work.
func (p *TrustBundlePublisher) OnSynced() { p.Publish() }

// prefix begins the names of all bundles of the signer. The API wants the name of a bundle that has a signer to begin
// so.
func (p *TrustBundlePublisher) prefix() string { return strings.ReplaceAll(p.signer, "/", ":") + ":" }

// ensure makes the bundle, or corrects it, and only then deletes others of the signer, so that there is one at any
// time.
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

// deleteOthers deletes the bundles of the signer under any name but this one. One that cannot be deleted keeps no
// other.
func (p *TrustBundlePublisher) deleteOthers(ctx context.Context, name string) error {
	list, err := p.store.List(ctx, request.List{Kind: p.kind})
	if err != nil {
		return err
	}
	var faults []error
	for _, o := range list.Items {
		if o.Key.Name != name && strings.HasPrefix(o.Key.Name, p.prefix()) {
			faults = append(faults, reconcile.DeleteIfUnchanged(ctx, p.store, p.kind, o, ""))
		}
	}
	return errors.Join(faults...)
}

// ensureBundle makes the bundle of a name, or gives it back the text that the name stands for.
func (p *TrustBundlePublisher) ensureBundle(ctx context.Context, name, text string) error {
	key := meta.Key{GroupResource: p.kind.Storage, Name: name}
	o, err := p.store.Get(ctx, request.Get{Kind: p.kind, Key: key})
	spec := tree.Tree{"signerName": p.signer, "trustBundle": text}
	if reconcile.IsNotFound(err) {
		_, err = p.store.Mutate(ctx, request.Mutation{
			Kind: p.kind, Key: key, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}, "spec": spec}},
		})
		return err
	}
	if err != nil {
		return err
	}
	object, err := codec.DecodeStored(p.kind.Message(), o.JSON)
	if err != nil || object.Object("spec").String("trustBundle") == text {
		return err
	}
	return reconcile.PatchIfUnchanged(ctx, p.store, p.kind, o, "", tree.Tree{"spec": spec})
}

// onlyCAs are the certificates of CAs in a PEM text, each once. What the server presents may have other certificates in it,
// which are no roots.
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
		return nil, errors.New("what the server presents holds no certificate of a CA")
	}
	return cas, nil
}
