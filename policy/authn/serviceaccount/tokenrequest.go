package serviceaccount

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A TokenRequestHandler validates TokenRequests and creates the requested tokens.
type TokenRequestHandler struct {
	Issuer  *Issuer
	Objects Objects
	// Audiences lists the audiences of tokens for which the request specifies none.
	Audiences []string
	// MaxExpiration limits the token lifetime. 0 means no limit.
	MaxExpiration time.Duration
	// ExtendExpiration extends the lifetime of tokens in projected volumes to a year, if they are
	// for this server. Using an extended token after its requested lifetime triggers a warning.
	ExtendExpiration bool
	Now              func() time.Time
}

// A TokenRequest requests a token for the account at Key. Object is the decoded request body. The
// handler changes it into the response.
type TokenRequest struct {
	Kind    *schema.Kind // kind of Object
	Key     meta.Key
	Object  tree.Tree
	Manager string // the field manager
	// Issued, if set, is called with the credential ID of the token, for audit events.
	Issued func(credentialID string)
}

// projectedTokenSeconds is the lifetime that projected volumes request. Only tokens with this
// lifetime are extended.
const (
	projectedTokenSeconds = 3607
	extendedExpiration    = 365 * 24 * time.Hour
)

// Complete validates a request, and sets its defaults, its audiences and the metadata of the
// account. Errors are *meta.Status.
func (g *TokenRequestHandler) Complete(r TokenRequest) error {
	rules.Default(r.Kind, r.Object)
	delete(r.Object, "status")
	if name := r.Object.Name(); name != "" && name != r.Key.Name {
		var faults schema.Faults
		faults.Invalid("metadata.name", name, "must match the service account name if specified")
		return meta.NewInvalid(r.Kind.GroupKind(), r.Key.Name, faults.List)
	}
	account, ok := g.Objects.GetMeta(accounts, r.Key.Namespace, r.Key.Name)
	if !ok {
		return meta.NewNotFound(accounts, r.Key.Name)
	}
	if err := r.prepare(account.UID, g.Now()); err != nil {
		return err
	}
	if spec := r.Object.EnsureObject("spec"); len(spec.List("audiences")) == 0 {
		spec["audiences"] = tree.ListOf(g.Audiences)
	}
	return nil
}

// CreateToken signs the token for a completed request and stores it in Object. It returns warnings
// for the client. Errors other than signing failures are *meta.Status.
func (g *TokenRequestHandler) CreateToken(r TokenRequest) (warnings []string, err error) {
	now, spec := g.Now(), r.Object.EnsureObject("spec")
	account, ok := g.Objects.GetMeta(accounts, r.Key.Namespace, r.Key.Name)
	// The account may have been deleted or recreated since Complete.
	if !ok || account.UID != r.Object.EnsureObject("metadata").String("uid") {
		return nil, meta.NewNotFound(accounts, r.Key.Name)
	}
	to, err := g.resolveBoundObject(r, spec.Object("boundObjectRef"))
	if err != nil {
		return nil, err
	}
	seconds, _ := spec.Int("expirationSeconds")
	if most := int64(g.MaxExpiration / time.Second); most > 0 && seconds > most {
		warnings = append(warnings, fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", seconds, most))
		seconds = most
		spec["expirationSeconds"] = seconds
	}
	t := tokenSpec{
		Account: Account{r.Key.Namespace, r.Key.Name, account.UID}, binding: to,
		audiences: spec.Strings("audiences"), issuedAt: now, lifetime: time.Duration(seconds) * time.Second,
	}
	end := now.Add(t.lifetime)
	if g.ExtendExpiration && to.pod != nil && seconds == projectedTokenSeconds && g.isOwnAudience(t.audiences) {
		t.warnAfter, t.lifetime = t.lifetime, extendedExpiration
	}
	token, id, err := g.Issuer.signBound(t)
	if err != nil {
		return nil, fmt.Errorf("signing a token: %w", err)
	}
	if r.Issued != nil {
		r.Issued("JTI=" + id)
	}
	r.Object["status"] = tree.Tree{"token": token, "expirationTimestamp": formatTime(end)}
	return warnings, nil
}

// prepare sets the metadata of the request. It returns an error if the request specifies another
// uid than the account's.
func (r *TokenRequest) prepare(uid string, now time.Time) error {
	metadata := r.Object.EnsureObject("metadata")
	if asked := metadata.String("uid"); asked != "" && asked != uid {
		return meta.NewConflict(meta.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Kind}, r.Key.Name,
			fmt.Sprintf("the UID in the token request (%s) does not match the UID of the service account (%s)", asked, uid))
	}
	var faults schema.Faults
	rules.ValidateRules(r.Kind, r.Object, nil, &faults)
	if len(faults.List) > 0 {
		return meta.NewInvalid(r.Kind.GroupKind(), "", faults.List)
	}
	delete(metadata, "managedFields")
	if managed := r.newManagedFields(now); len(managed) > 0 {
		metadata["managedFields"] = managed
	}
	metadata["name"], metadata["namespace"], metadata["uid"] = r.Key.Name, r.Key.Namespace, uid
	metadata["creationTimestamp"] = formatTime(now)
	return nil
}

func (r *TokenRequest) newManagedFields(now time.Time) []any {
	w := managedfields.Writer{Manager: r.Manager, Subresource: "token", APIVersion: r.Kind.APIVersion(), Now: formatTime(now)}
	forms := func(version string) (managedfields.ServedVersion, bool) {
		return managedfields.ServedVersion{Message: r.Kind.Message()}, version == r.Kind.APIVersion()
	}
	return managedfields.Update(w, forms, nil, r.Object, nil, true)
}

func (g *TokenRequestHandler) resolveBoundObject(r TokenRequest, to tree.Tree) (b binding, err error) {
	if to == nil {
		return b, nil
	}
	version, kind := to.String("apiVersion"), to.String("kind")
	group := apiGroupOf(version)
	name := to.String("name")
	var found *ref
	switch {
	case group == "" && kind == "Pod":
		found, b.node, err = g.findPod(r.Key, name)
		b.pod = found
	case group == "" && kind == "Node":
		found, err = g.find(nodes, "", name)
		b.node = found
	case group == "" && kind == "Secret":
		found, err = g.find(secrets, r.Key.Namespace, name)
		b.secret = found
	default:
		if group == "" {
			version = "/" + version
		}
		why := ""
		if r.Object.Object("spec").Has("attestations") { // valid only for webhook configurations
			why = " (feature gate APIServerWebhookAuthenticationToken is disabled)"
		}
		return b, meta.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s, Kind=%s%s", version, kind, why))
	}
	if err != nil {
		return b, err
	}
	if uid := to.String("uid"); uid != "" && uid != found.uid {
		return b, meta.NewConflict(meta.GroupResource{Group: group, Resource: kind}, name, fmt.Sprintf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return b, nil
}

func apiGroupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

func (g *TokenRequestHandler) findPod(account meta.Key, name string) (pod, node *ref, err error) {
	o := g.Objects.Get(pods, account.Namespace, name)
	if o == nil {
		return nil, nil, meta.NewNotFound(pods, name)
	}
	spec := o.Tree.Object("spec")
	if spec.String("serviceAccountName") != account.Name {
		return nil, nil, meta.NewBadRequest(fmt.Sprintf(
			"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
	}
	if on := spec.String("nodeName"); on != "" {
		head, _ := g.Objects.GetMeta(nodes, "", on) // a missing node has no uid
		node = &ref{on, head.UID}
	}
	return &ref{name, o.Meta.UID}, node, nil
}

func (g *TokenRequestHandler) find(r meta.GroupResource, namespace, name string) (*ref, error) {
	head, ok := g.Objects.GetMeta(r, namespace, name)
	if !ok {
		return nil, meta.NewNotFound(r, name)
	}
	return &ref{name, head.UID}, nil
}

func (g *TokenRequestHandler) isOwnAudience(audiences []string) bool {
	return !slices.ContainsFunc(audiences, func(s string) bool { return !slices.Contains(g.Audiences, s) })
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
