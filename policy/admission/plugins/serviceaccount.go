package plugins

import (
	"cmp"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// defaultAccountName is the service account of Pods that specify none. A controller creates it in
// every namespace.
const defaultAccountName = "default"

// Names in the platform naming profile.
const (
	enforceMountableSecrets = "platform.io/enforce-mountable-secrets"
	mirrorPodAnnotation     = "platform.io/config.mirror"
	tokenMountPath          = "/var/run/secrets/platform.io/serviceaccount"
	tokenVolumePrefix       = "platform-api-access-"
	rootCAConfigMap         = "platform-root-ca.crt"
)

// ServiceAccount returns the plugin that adds the service account's token volume and image pull
// secrets to new Pods. It rejects Pods whose account does not exist. For accounts that enforce
// mountable secrets, it also rejects Pods that use unlisted secrets. If rootCA is true, the token
// volume includes the namespace's root CA ConfigMap.
func ServiceAccount(naming *meta.Naming, objects policy.Objects, rootCA bool) []admission.Registration {
	p := &serviceAccountPlugin{
		objects: objects, mirror: naming.Translate(mirrorPodAnnotation), enforce: naming.Translate(enforceMountableSecrets),
		mountPath: naming.Translate(tokenMountPath), volumePrefix: naming.Translate(tokenVolumePrefix),
	}
	if rootCA {
		p.rootCA = naming.Translate(rootCAConfigMap)
	}
	p.accounts = policy.NewCache(serviceAccounts, p.parse)
	r := admission.Register("ServiceAccount", p, p.accounts)
	// Only creates may wait for an account. Other Pod writes need not run at stage MayBlock.
	return []admission.Registration{r, {Name: r.Name, Resources: []string{"/pods"}, Plugin: request.Plugin{Stage: request.MayBlock, Operations: request.OnCreate, Mutator: accountWaiter{p}}}}
}

var serviceAccounts = meta.GroupResource{Resource: "serviceaccounts"}

type serviceAccountPlugin struct {
	request.HandlesAll
	objects  policy.Objects
	accounts *policy.Cache[*serviceAccount]

	mirror, enforce, mountPath, volumePrefix string // in the naming profile
	rootCA                                   string // ConfigMap with the CAs; "" for none
}

type serviceAccount struct {
	name        string
	automount   any      // a bool; nil if unset
	pullSecrets []string // in the order in which Pods get them
	secrets     map[string]bool
	limited     bool // Pods may refer only to these secrets
}

// parse reads an account. As in Kubernetes, a non-boolean annotation is ignored.
func (p *serviceAccountPlugin) parse(o *policy.Object) *serviceAccount {
	account := &serviceAccount{name: o.Key.Name, automount: o.Tree["automountServiceAccountToken"], secrets: map[string]bool{}}
	for _, secret := range o.Tree.Objects("imagePullSecrets") {
		account.pullSecrets = append(account.pullSecrets, secret.String("name"))
	}
	for _, secret := range o.Tree.Objects("secrets") {
		account.secrets[secret.String("name")] = true
	}
	account.limited, _ = strconv.ParseBool(o.Tree.Annotations().String(p.enforce))
	return account
}

func (p *serviceAccountPlugin) lookup(namespace, name string) *serviceAccount {
	if account, ok := p.accounts.Get(namespace, name); ok {
		return account
	}
	if o := p.objects.Get(serviceAccounts, namespace, name); o != nil {
		return p.parse(o)
	}
	return nil
}

// Admit completes a new Pod. If the default account does not exist yet, it leaves the Pod without
// an account, and accountWaiter completes the Pod. Mirror Pods are checked but not changed, because
// the node already runs them.
func (p *serviceAccountPlugin) Admit(a *request.Attributes) error {
	if !a.IsCreate() || p.isMirror(a.New) {
		return p.Validate(a)
	}
	spec := a.New.EnsureObject("spec")
	name := cmp.Or(spec.String("serviceAccountName"), defaultAccountName)
	account := p.lookup(a.Key.Namespace, name)
	if account == nil && name == defaultAccountName && !a.Reinvocation {
		delete(spec, "serviceAccountName")
		delete(spec, "serviceAccount")
		return nil
	}
	return p.complete(a, name, account)
}

// complete sets the fields of a new Pod from its account, including the deprecated serviceAccount.
// It returns an error if account is nil. The Pod's own pull secrets override the account's.
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

func noAccount(a *request.Attributes, name string) error {
	return a.Forbidden("error looking up service account " + a.Key.Namespace + "/" + name + `: serviceaccount "` + name + `" not found`)
}

func (s *serviceAccount) mounts(spec tree.Tree) bool {
	for _, said := range []any{spec["automountServiceAccountToken"], s.automount} {
		if mounts, ok := said.(bool); ok {
			return mounts
		}
	}
	return true
}

func (p *serviceAccountPlugin) isMirror(pod tree.Tree) bool {
	return pod.Annotations().Has(p.mirror)
}

// Validate checks new Pods and added ephemeral containers. Other updates cannot change references
// to secrets.
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
