package serviceaccount

import (
	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
)

// names are the identifiers of tokens that bear a vendor's name.
type names struct {
	private      string // the claim of bound tokens that holds what they are bound to
	legacyIssuer string
	// The claims of legacy tokens.
	namespace, secret, account, uid string
	// Keys of a user's extra.
	credentialID, podName, podUID, nodeName, nodeUID string

	secretType   string
	invalidSince string // the label of a secret whose token counts no more
}

func newNames(n *meta.Naming) names {
	const legacy, extra = "platform.io/serviceaccount/", "authentication.platform.io/"
	return names{
		private:      n.Name("platform.io"),
		legacyIssuer: n.Name("platform") + "/serviceaccount",
		namespace:    n.Name(legacy + "namespace"),
		secret:       n.Name(legacy + "secret.name"),
		account:      n.Name(legacy + "service-account.name"),
		uid:          n.Name(legacy + "service-account.uid"),
		credentialID: n.Name(authn.CredentialID),
		podName:      n.Name(extra + "pod-name"),
		podUID:       n.Name(extra + "pod-uid"),
		nodeName:     n.Name(extra + "node-name"),
		nodeUID:      n.Name(extra + "node-uid"),
		secretType:   n.Name(SecretType),
		invalidSince: n.Name("platform.io/legacy-token-invalid-since"),
	}
}

// Of secrets that hold a legacy token, in platform form.
const (
	SecretType        = "platform.io/service-account-token"
	AccountAnnotation = "platform.io/service-account.name" // names the account
	UIDAnnotation     = "platform.io/service-account.uid"  // its uid
)

// The keys of such a secret's data.
const (
	TokenKey     = "token"
	CAKey        = "ca.crt"
	NamespaceKey = "namespace"
)

// A ref names one life of an object; a nil one, none.
type ref struct{ name, uid string }

func (r *ref) tree() schema.Tree {
	t := schema.Tree{"name": r.name}
	if r.uid != "" {
		t["uid"] = r.uid
	}
	return t
}

func readRef(t schema.Tree, name string) *ref {
	sub := rules.Sub(t, name)
	if sub == nil {
		return nil
	}
	return &ref{rules.Text(sub, "name"), rules.Text(sub, "uid")}
}

// A binding is what a token is bound to besides its account. With a pod, the node is where
// the Pod ran, and only told.
type binding struct{ pod, secret, node *ref }

// facts are what a verified token says.
type facts struct {
	Account
	binding
	id        string // of the token; "" for a legacy one
	legacy    string // the name of the secret of a legacy token
	audiences []string
	from      int64 // before which it is worth nothing, in seconds since 1970
	until     int64 // after which it is worth nothing; 0: never
}

// read takes the facts out of the claims of a bound token. ok is false if they are not all there.
func (n *names) read(c jwt.MapClaims) (f facts, ok bool) {
	private := rules.Sub(schema.Tree(c), n.private)
	account := readRef(private, "serviceaccount")
	if account == nil {
		return f, false
	}
	f.Account = Account{rules.Text(private, "namespace"), account.name, account.uid}
	f.binding = binding{readRef(private, "pod"), readRef(private, "secret"), readRef(private, "node")}
	f.id = rules.Text(schema.Tree(c), "jti")
	subject, _ := c.GetSubject()
	return f, f.UID != "" && subject == f.Username()
}

// readLegacy is like read for a legacy token.
func (n *names) readLegacy(c jwt.MapClaims) (f facts, ok bool) {
	t := schema.Tree(c)
	f.Account = Account{rules.Text(t, n.namespace), rules.Text(t, n.account), rules.Text(t, n.uid)}
	f.legacy = rules.Text(t, n.secret)
	subject, _ := c.GetSubject()
	return f, f.UID != "" && f.legacy != "" && subject == f.Username()
}

// user is who a token belongs to.
func (n *names) user(f facts) *authn.User {
	u := f.user()
	extra := map[string][]string{}
	tell := func(key, value string) {
		if value != "" {
			extra[key] = []string{value}
		}
	}
	if f.id != "" {
		tell(n.credentialID, "JTI="+f.id)
	}
	if f.pod != nil {
		tell(n.podName, f.pod.name)
		tell(n.podUID, f.pod.uid)
	}
	if f.node != nil {
		tell(n.nodeName, f.node.name)
		tell(n.nodeUID, f.node.uid)
	}
	if len(extra) > 0 {
		u.Extra = extra
	}
	return u
}
