package serviceaccount

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// A Grantor answers TokenRequests.
type Grantor struct {
	Issuer  *Issuer
	Objects Objects
	// Audiences are those of a token for which none are asked.
	Audiences []string
	// Longest is how long a token may last; 0 leaves it to the request.
	Longest time.Duration
	// Extend makes tokens of Pods for this server, if they are asked for as volumes do, last a
	// year. It counts as a warning when one is used after the time that was asked for.
	Extend bool
	Now    func() time.Time
}

// A Request asks for a token of the account at Key. Object is a TokenRequest, decoded, and
// becomes the answer.
type Request struct {
	Kind    *schema.Kind // of Object
	Key     meta.Key
	Object  schema.Tree
	Manager string // the field manager
}

// What makes a token last longer than was asked for: this very number of seconds.
const (
	volumeSeconds = 3607
	extension     = 365 * 24 * time.Hour
)

// Grant signs a token. Warnings are texts for the client; errors are *meta.Status.
func (g *Grantor) Grant(r Request) (warnings []string, err error) {
	now := g.Now()
	rules.Default(r.Kind, r.Object)
	delete(r.Object, "status")
	account, ok := g.Objects.Head(accounts, r.Key.Namespace, r.Key.Name)
	if !ok {
		return nil, meta.NewNotFound(accounts, r.Key.Name)
	}
	if err := r.prepare(account.UID, now); err != nil {
		return nil, err
	}
	spec := rules.Grow(r.Object, "spec")
	if !rules.Has(spec, "audiences") || len(rules.Items(spec, "audiences")) == 0 {
		spec["audiences"] = policy.Items(g.Audiences)
	}
	to, err := g.bind(r, rules.Sub(spec, "boundObjectRef"))
	if err != nil {
		return nil, err
	}
	seconds, _ := rules.Int(spec, "expirationSeconds")
	if most := int64(g.Longest / time.Second); most > 0 && seconds > most {
		warnings = append(warnings, fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", seconds, most))
		seconds = most
		spec["expirationSeconds"] = seconds
	}
	t := grant{
		Account: Account{r.Key.Namespace, r.Key.Name, account.UID}, binding: to,
		audiences: rules.Texts(spec, "audiences"), at: now, life: time.Duration(seconds) * time.Second,
	}
	end := now.Add(t.life)
	if g.Extend && to.pod != nil && seconds == volumeSeconds && g.own(t.audiences) {
		t.warnAfter, t.life = t.life, extension
	}
	token, err := g.Issuer.bound(t)
	if err != nil {
		return nil, fmt.Errorf("signing a token: %w", err)
	}
	r.Object["status"] = schema.Tree{"token": token, "expirationTimestamp": stamp(end)}
	return warnings, nil
}

// prepare checks the request alone, and completes its metadata.
func (r *Request) prepare(uid string, now time.Time) error {
	metadata := rules.Grow(r.Object, "metadata")
	if asked := rules.Text(metadata, "uid"); asked != "" && asked != uid {
		return meta.NewConflict(meta.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Kind}, r.Key.Name,
			fmt.Sprintf("the UID in the token request (%s) does not match the UID of the service account (%s)", asked, uid))
	}
	var faults schema.Faults
	r.Kind.Rules.Validate(r.Object, &faults)
	if len(faults.List) > 0 {
		return meta.NewInvalid(meta.GroupKind{Group: r.Kind.Group, Kind: r.Kind.Kind}, "", faults.List)
	}
	delete(metadata, "managedFields")
	if managed := r.managed(now); len(managed) > 0 {
		metadata["managedFields"] = managed
	}
	metadata["name"], metadata["namespace"], metadata["uid"] = r.Key.Name, r.Key.Namespace, uid
	metadata["creationTimestamp"] = stamp(now)
	return nil
}

// managed tells what of the request is its manager's, as if it were stored.
func (r *Request) managed(now time.Time) []any {
	w := ownership.Writer{Manager: r.Manager, Subresource: "token", APIVersion: r.Kind.APIVersion(), Now: stamp(now)}
	forms := func(version string) (ownership.Form, bool) {
		return ownership.Form{Message: r.Kind.Message}, version == r.Kind.APIVersion()
	}
	return ownership.Update(w, forms, nil, r.Object, nil, true)
}

// bind finds what the token is to be bound to.
func (g *Grantor) bind(r Request, to schema.Tree) (b binding, err error) {
	if to == nil {
		return b, nil
	}
	version, kind := rules.Text(to, "apiVersion"), rules.Text(to, "kind")
	group := groupOf(version)
	name := rules.Text(to, "name")
	var found *ref
	switch {
	case group == "" && kind == "Pod":
		found, b.node, err = g.pod(r.Key, name)
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
		return b, meta.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s, Kind=%s", version, kind))
	}
	if err != nil {
		return b, err
	}
	if uid := rules.Text(to, "uid"); uid != "" && uid != found.uid {
		return b, meta.NewConflict(meta.GroupResource{Group: group, Resource: kind}, name, fmt.Sprintf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return b, nil
}

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// pod finds a Pod of the account, and the node that it is on, if any.
func (g *Grantor) pod(account meta.Key, name string) (pod, node *ref, err error) {
	o := g.Objects.Get(pods, account.Namespace, name)
	if o == nil {
		return nil, nil, meta.NewNotFound(pods, name)
	}
	spec := rules.Sub(o.Tree, "spec")
	if rules.Text(spec, "serviceAccountName") != account.Name {
		return nil, nil, meta.NewBadRequest(fmt.Sprintf(
			"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
	}
	if on := rules.Text(spec, "nodeName"); on != "" {
		head, _ := g.Objects.Head(nodes, "", on) // a node that is not there has no uid
		node = &ref{on, head.UID}
	}
	return &ref{name, o.Head.UID}, node, nil
}

func (g *Grantor) find(r meta.GroupResource, namespace, name string) (*ref, error) {
	head, ok := g.Objects.Head(r, namespace, name)
	if !ok {
		return nil, meta.NewNotFound(r, name)
	}
	return &ref{name, head.UID}, nil
}

// own tells whether all audiences are this server's.
func (g *Grantor) own(audiences []string) bool {
	return !slices.ContainsFunc(audiences, func(s string) bool { return !slices.Contains(g.Audiences, s) })
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
