package volumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Binder binds claims to volumes. If no volume fits, it requests a new volume from an external
// provisioner, such as a CSI driver.
//
// Lock order: mu is taken before the locks of the work queues. It is not held during store calls.
type Binder struct {
	*reconcile.Controller[meta.Key] // queue of claims
	byVolume                        *reconcile.Controller[meta.Key]
	volumes, claims, classes        reconcile.Client
	bindCompleted, boundByBinder    string // annotations
	betaClass, selectedNode         string
	provisioner, provisionerBefore  string // annotations of a claim: the requested provisioner
	provisionedBy                   string // annotation of a volume: its provisioner
	noProvisioner, inTreeProvisions string // names of provisioners

	mu      sync.Mutex // guards the fields below
	known   map[string]*volume
	pending map[meta.Key]bool    // claims that wait for a volume
	taken   map[string]reference // volumes reserved for a claim
}

const component = "persistentvolume-controller"

func NewBinder(env *reconcile.Env) *Binder {
	b := &Binder{
		volumes: env.Core("PersistentVolume").Reporting(component), claims: env.Core("PersistentVolumeClaim").Reporting(component),
		classes:       env.Client("storage.platform.io", "v1", "StorageClass"),
		bindCompleted: env.Translate("pv.platform.io/bind-completed"), boundByBinder: env.Translate("pv.platform.io/bound-by-controller"),
		betaClass: env.Translate("volume.beta.platform.io/storage-class"), selectedNode: env.Translate("volume.platform.io/selected-node"),
		provisioner: env.Translate("volume.platform.io/storage-provisioner"), provisionerBefore: env.Translate("volume.beta.platform.io/storage-provisioner"),
		provisionedBy: env.Translate("pv.platform.io/provisioned-by"), noProvisioner: env.Translate("platform.io/no-provisioner"), inTreeProvisions: env.Translate("platform.io/"),
		known: map[string]*volume{}, pending: map[meta.Key]bool{}, taken: map[string]reference{},
	}
	b.Controller = reconcile.New(env, "claims", b.syncClaim, "cannot bind a volume; retrying", "claim")
	b.byVolume = reconcile.New(env, "volumes", b.syncVolume, "cannot bind a volume; retrying", "volume")
	b.Watch(b.volumes, b.onVolume)
	b.Watch(b.claims, b.onClaim)
	b.Watch(b.classes, b.onClass)
	b.Go(b.byVolume.Run)
	return b
}

// onVolume records a volume and enqueues the claims that may be waiting for it. Workers bind claims
// only after all volumes are known.
func (b *Binder) onVolume(e reconcile.Event) {
	key := e.Key
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.known[key.Name]
	delete(b.known, key.Name)
	if !e.Deleted {
		object, err := b.volumes.Decode(e.Object)
		if err != nil {
			b.Log.Error("cannot decode a volume", "volume", key.Name, "error", err)
			return
		}
		v := newVolume(e.Object, object, b.betaClass).clone()
		b.known[key.Name] = &v
		if v.claim.name != "" {
			b.Add(b.claimKey(v.claim))
		}
		b.byVolume.Add(key)
	}
	if before != nil && before.claim.name != "" {
		b.Add(b.claimKey(before.claim))
	}
	for claim := range b.pending {
		b.Add(claim)
	}
}

func (b *Binder) claimKey(r reference) meta.Key { return b.claims.Key(r.namespace, r.name) }

func (b *Binder) volumeKey(name string) meta.Key { return b.volumes.Key("", name) }

// onClaim enqueues a claim and the volumes that refer to it, whose phases depend on the claim.
func (b *Binder) onClaim(e reconcile.Event) {
	key := e.Key
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Deleted {
		delete(b.pending, key)
	}
	b.Add(key)
	for name, v := range b.known {
		if v.claim.namespace == key.Namespace && v.claim.name == key.Name {
			b.byVolume.Add(b.volumeKey(name))
		}
	}
}

// onClass enqueues waiting claims, because a claim may be created before its class.
func (b *Binder) onClass(reconcile.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for claim := range b.pending {
		b.Add(claim)
	}
}

// clone returns a copy that shares no memory with the stored object.
func (v volume) clone() volume {
	for _, text := range []*string{&v.name, &v.class, &v.mode, &v.attributesClass, &v.phase, &v.capacity, &v.claim.namespace, &v.claim.name, &v.claim.uid} {
		*text = strings.Clone(*text)
	}
	modes, labels := make([]string, len(v.modes)), make(meta.Labels, len(v.labels))
	for i, mode := range v.modes {
		modes[i] = strings.Clone(mode)
	}
	for i, l := range v.labels {
		labels[i] = meta.Label{Key: strings.Clone(l.Key), Value: strings.Clone(l.Value)}
	}
	v.modes, v.labels = modes, labels
	return v
}

// claim is a decoded PersistentVolumeClaim. Writes use its resourceVersion as a precondition.
type claim struct {
	*meta.Object
	tree tree.Tree
}

func (c claim) annotation(name string) string {
	return c.tree.Annotations().String(name)
}

func (c claim) ref() reference { return reference{c.Key.Namespace, c.Key.Name, c.Meta.UID} }

// syncClaim performs the next step of binding a claim. An annotation marks claims that were bound
// before. A marked claim is lost if its volume is missing. An unmarked claim waits for the volume,
// which may still be created.
func (b *Binder) syncClaim(ctx context.Context, key meta.Key) error {
	o, object, err := b.claims.Read(ctx, key)
	if err != nil || o == nil {
		return err
	}
	c := claim{o, object}
	if c.annotation(b.bindCompleted) != "" {
		b.setPending(key, false)
		return b.syncBound(ctx, c)
	}
	if name := c.tree.Object("spec").String("volumeName"); name != "" {
		return b.syncPreBound(ctx, c, name)
	}
	return b.syncUnbound(ctx, c)
}

func (b *Binder) setPending(key meta.Key, pending bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if pending {
		b.pending[key] = true
	} else {
		delete(b.pending, key)
	}
}

// request returns a claim's requirements for a volume. If waits is set, the claim's Pod is not
// scheduled yet, and only a volume whose claimRef refers to the claim may be bound.
func (b *Binder) request(c claim, waits bool) (*requirements, error) {
	spec := c.tree.Object("spec")
	chosen, ok := selector.FromLabelSelector(spec.Object("selector"))
	if !ok {
		return nil, errors.New("spec.selector has an unknown operator")
	}
	return &requirements{
		claim: c.ref(), class: classOf(c.tree, b.betaClass), mode: cmp.Or(spec.String("volumeMode"), defaultMode), attributesClass: spec.String("volumeAttributesClassName"),
		modes: spec.Strings("accessModes"), storage: spec.Object("resources", "requests").String("storage"), selector: chosen, waits: waits,
	}, nil
}

// syncUnbound finds a volume for a claim without a volumeName. It marks the claim as pending before
// the search, so that it does not miss new volumes.
//
// Volumes of a WaitForFirstConsumer class may be reachable only from some nodes. A claim of such a
// class waits until the scheduler has written the selected node to an annotation.
func (b *Binder) syncUnbound(ctx context.Context, c claim) error {
	className := classOf(c.tree, b.betaClass)
	class, err := b.class(ctx, className)
	if err != nil {
		return err
	}
	waits := class.String("volumeBindingMode") == "WaitForFirstConsumer" && c.annotation(b.selectedNode) == ""
	b.setPending(c.Key, true)
	wanted, err := b.request(c, waits)
	if err != nil {
		return err
	}
	name := b.take(wanted)
	switch {
	case name != "":
		defer b.giveBack(name)
		return b.bindTo(ctx, c, name)
	case waits:
		b.claims.Note(c.Object, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case className != "":
		return b.provision(ctx, c, className, class)
	default:
		b.claims.Note(c.Object, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	}
	return b.setClaimPhase(ctx, c, "Pending")
}

// take chooses a volume for a claim and reserves it until giveBack is called. It holds one lock for
// both, so that concurrent workers never choose the same volume.
func (b *Binder) take(r *requirements) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := r.find(b.known, func(name string) bool { _, ok := b.taken[name]; return ok })
	if name != "" {
		b.taken[name] = r.claim
	}
	return name
}

func (b *Binder) giveBack(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.taken, name)
}

func (b *Binder) class(ctx context.Context, name string) (tree.Tree, error) {
	if name == "" {
		return nil, nil
	}
	_, object, err := b.classes.ReadNamed(ctx, "", name)
	return object, err
}

// provision requests a volume by writing the class's provisioner to an annotation, and to the beta
// annotation for older provisioners. In-tree provisioners, which use the platform's own domain, are
// not supported. Their claims stay pending.
func (b *Binder) provision(ctx context.Context, c claim, name string, class tree.Tree) error {
	provisioner := class.String("provisioner")
	switch {
	case class == nil:
		b.claims.Warn(c.Object, "ProvisioningFailed", fmt.Sprintf("storageclass.%s %q not found", b.classes.Group, name))
		return b.setClaimPhase(ctx, c, "Pending")
	case strings.HasPrefix(provisioner, b.inTreeProvisions):
		if provisioner != b.noProvisioner {
			b.claims.Warn(c.Object, "ProvisioningFailed", "no volume plugin matched name: "+provisioner)
		}
		return b.setClaimPhase(ctx, c, "Pending")
	}
	if c.annotation(b.provisioner) != provisioner || c.annotation(b.provisionerBefore) != provisioner {
		annotations := tree.Tree{b.provisioner: provisioner, b.provisionerBefore: provisioner}
		return b.claims.Patch(ctx, c.Object, "", tree.Tree{"metadata": tree.Tree{"annotations": annotations}})
	}
	b.claims.Note(c.Object, "ExternalProvisioning", fmt.Sprintf("Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. "+
		"If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner))
	return b.setClaimPhase(ctx, c, "Pending")
}

// syncPreBound binds a claim to the volume in its volumeName, if the volume is free and fits. A
// volume that already refers to the claim need not fit.
func (b *Binder) syncPreBound(ctx context.Context, c claim, name string) error {
	o, object, err := b.volumes.Read(ctx, b.volumeKey(name))
	if err != nil {
		return err
	}
	b.setPending(c.Key, true)
	if o == nil {
		return b.setClaimPhase(ctx, c, "Pending")
	}
	v := newVolume(o, object, b.betaClass)
	r, err := b.request(c, false)
	if err != nil {
		return err
	}
	switch {
	case v.claim.name == "" && !r.fits(&v):
		b.claims.Warn(c.Object, "VolumeMismatch", fmt.Sprintf("Cannot bind to requested volume %q: it does not fit the claim", name))
	case v.claim.name == "" || v.claim.is(c.ref()):
		return b.bindTo(ctx, c, name)
	default:
		b.claims.Warn(c.Object, "FailedBinding", fmt.Sprintf("volume %q already bound to a different claim.", name))
	}
	return b.setClaimPhase(ctx, c, "Pending")
}

// syncBound checks a claim that was bound before. If its volume no longer exists, the claim is lost
// permanently, because another volume would contain different data. bindTo completes a partial
// binding.
func (b *Binder) syncBound(ctx context.Context, c claim) error {
	name := c.tree.Object("spec").String("volumeName")
	if name == "" {
		return b.lose(ctx, c, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	}
	o, object, err := b.volumes.Read(ctx, b.volumeKey(name))
	if err != nil {
		return err
	}
	if o == nil {
		return b.lose(ctx, c, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	}
	if v := newVolume(o, object, b.betaClass); v.claim.name != "" && v.claim.uid != c.Meta.UID {
		return b.lose(ctx, c, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
	}
	return b.bindTo(ctx, c, name)
}

func (b *Binder) lose(ctx context.Context, c claim, reason, message string) error {
	if c.tree.Object("status").String("phase") != "Lost" {
		b.claims.Warn(c.Object, reason, message)
	}
	return b.setClaimPhase(ctx, c, "Lost")
}

func (b *Binder) setClaimPhase(ctx context.Context, c claim, phase string) error {
	if c.tree.Object("status").String("phase") == phase {
		return nil
	}
	status := tree.Tree{"phase": phase}
	if phase == "Lost" {
		status["accessModes"], status["capacity"] = nil, nil
	}
	return b.claims.PatchStatus(ctx, c.Object, status)
}
