package plugins

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// defaultAccountName is the account of Pods that name none. A controller makes it in every namespace.
const defaultAccountName = "default"

// The names that a service account goes by, in platform form.
const (
	enforceMountableSecrets = "platform.io/enforce-mountable-secrets"
	mirrorPodAnnotation     = "platform.io/config.mirror"
	tokenMountPath          = "/var/run/secrets/platform.io/serviceaccount"
	tokenVolumePrefix       = "platform-api-access-"
	rootCAConfigMap         = "platform-root-ca.crt"
)

// ServiceAccount gives every new Pod its service account, with a token and the secrets for pulling images. It
// refuses Pods whose account there is not, and, where the account says so, those that refer to secrets
// which the account does not list. rootCA: the volume of a token holds the CAs of the ConfigMap that every namespace
// has for that.
func ServiceAccount(naming *meta.Naming, objects policy.Objects, rootCA bool) []admission.Registration {
	p := &serviceAccountPlugin{
		objects: objects, mirror: naming.Translate(mirrorPodAnnotation), enforce: naming.Translate(enforceMountableSecrets),
		mountPath: naming.Translate(tokenMountPath), volumePrefix: naming.Translate(tokenVolumePrefix),
	}
	if rootCA {
		p.rootCA = naming.Translate(rootCAConfigMap)
	}
	p.accounts = policy.NewCache(serviceAccounts, p.parse)
	const name = "ServiceAccount"
	return []admission.Registration{
		{
			Name: name, Resources: []string{"/pods", "/pods/ephemeralcontainers"}, Caches: []policy.Follower{p.accounts},
			Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Mutator: p, Validator: p},
		},
		// Only new Pods wait for their account, so that no other write of a Pod has anything to wait for.
		{Name: name, Resources: []string{"/pods"}, Plugin: request.Plugin{Stage: request.MayBlock, Operations: request.OnCreate, Mutator: accountWaiter{p}}},
	}
}

// serviceAccounts is the resource that the cache follows.
var serviceAccounts = meta.GroupResource{Resource: "serviceaccounts"}

// serviceAccountPlugin is shared by both registrations: the one that completes Pods, and the one that lets a Pod wait for
// the account of a new namespace.
type serviceAccountPlugin struct {
	request.HandlesAll
	objects  policy.Objects
	accounts *policy.Cache[*serviceAccount]

	mirror, enforce, mountPath, volumePrefix string // names of the profile
	rootCA                                   string // the ConfigMap with the CAs; "" for none
}

// A serviceAccount is what a Pod takes of its account. secrets is a set for lookups; pullSecrets is a list
// because a Pod gets them in this order.
type serviceAccount struct {
	name        string
	automount   any      // whether Pods get a token: a bool, or nil if the account does not say
	pullSecrets []string // names of the secrets for pulling images
	secrets     map[string]bool
	limited     bool // Pods refer to these secrets only
}

// parse reads an account. An annotation that is no bool does not limit the account, as in the public API.
func (p *serviceAccountPlugin) parse(o *policy.Object) *serviceAccount {
	account := &serviceAccount{name: o.Key.Name, automount: o.Tree["automountServiceAccountToken"], secrets: map[string]bool{}}
	for _, secret := range o.Tree.Objects("imagePullSecrets") {
		account.pullSecrets = append(account.pullSecrets, secret.String("name"))
	}
	for _, secret := range o.Tree.Objects("secrets") {
		account.secrets[secret.String("name")] = true
	}
	account.limited, _ = strconv.ParseBool(o.Tree.Object("metadata", "annotations").String(p.enforce))
	return account
}

// lookup finds an account; nil if there is none. One that the cache has not seen yet, as another made it than
// who asks now, is read.
func (p *serviceAccountPlugin) lookup(namespace, name string) *serviceAccount {
	if account, ok := p.accounts.Get(namespace, name); ok {
		return account
	}
	if o := p.objects.Get(serviceAccounts, namespace, name); o != nil {
		return p.parse(o)
	}
	return nil
}

// Admit implements request.Mutator. A new Pod whose default account does not exist yet is left without
// one: it is one to wait for. A mirror Pod only shows what its node runs already; it is checked but not
// changed.
func (p *serviceAccountPlugin) Admit(a *request.Attributes) error {
	if !a.IsCreate() || p.isMirror(a.New) {
		return p.Validate(a)
	}
	spec := a.New.EnsureObject("spec")
	name := spec.String("serviceAccountName")
	if name == "" {
		name = defaultAccountName
	}
	account := p.lookup(a.Key.Namespace, name)
	if account == nil && name == defaultAccountName && !a.Reinvocation {
		delete(spec, "serviceAccountName")
		delete(spec, "serviceAccount")
		return nil
	}
	return p.complete(a, name, account)
}

// complete gives a new Pod what comes of its account, which is nil if there is none of that name. The
// deprecated field is set too, for older clients. Pull secrets of the Pod replace those of the account
// instead of being added.
func (p *serviceAccountPlugin) complete(a *request.Attributes, name string, account *serviceAccount) error {
	if account == nil {
		return noAccount(a, name)
	}
	spec := a.New.EnsureObject("spec")
	spec["serviceAccountName"], spec["serviceAccount"] = name, name
	if account.mounts(spec) {
		p.mountToken(spec)
	}
	if len(spec.List("imagePullSecrets")) == 0 {
		for _, secret := range account.pullSecrets {
			appendItem(spec, "imagePullSecrets", tree.Tree{"name": secret})
		}
	}
	return account.checkPod(a)
}

// noAccount refuses a Pod whose account there is not, with the words of the public API: clients look for them.
func noAccount(a *request.Attributes, name string) error {
	return a.Forbidden("error looking up service account " + a.Key.Namespace + "/" + name + `: serviceaccount "` + name + `" not found`)
}

// mounts tells whether a Pod gets a token. What the Pod says counts more than what the account says.
func (s *serviceAccount) mounts(spec tree.Tree) bool {
	for _, said := range []any{spec["automountServiceAccountToken"], s.automount} {
		if mounts, ok := said.(bool); ok {
			return mounts
		}
	}
	return true
}

// isMirror tells the mirror of a static Pod, which a node runs on its own: it is never changed.
func (p *serviceAccountPlugin) isMirror(pod tree.Tree) bool {
	return pod.Object("metadata", "annotations").Has(p.mirror)
}

// Validate implements request.Validator. Of updates only added ephemeral containers matter: nothing else
// of a Pod that refers to a secret can change.
func (p *serviceAccountPlugin) Validate(a *request.Attributes) error {
	spec := a.New.Object("spec")
	switch {
	case !a.IsCreate() && a.Subresource == "":
		return nil
	case a.IsCreate() && p.isMirror(a.New):
		return checkMirror(a)
	case spec.String("serviceAccountName") == "":
		return a.Forbidden("no service account specified for pod " + a.Key.Namespace + "/" + a.Key.Name)
	}
	name := spec.String("serviceAccountName")
	account := p.lookup(a.Key.Namespace, name)
	switch {
	case account == nil:
		return noAccount(a, name)
	case a.IsCreate():
		return account.checkPod(a)
	}
	return account.checkContainers(a, ephemeralContainers)
}
