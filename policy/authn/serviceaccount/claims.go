package serviceaccount

import (
	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// vendorNames holds the token identifiers that depend on the naming profile.
type vendorNames struct {
	privateClaim string // claim of bound tokens that contains the bound objects
	legacyIssuer string
	// Legacy token claims.
	namespace, secret, account, uid string
	// Keys in the user's extra attributes.
	credentialID, podName, podUID, nodeName, nodeUID string

	secrets SecretNames // names in Secrets with legacy tokens
}

func newVendorNames(n *meta.Naming) vendorNames {
	const legacy, extra = "platform.io/serviceaccount/", "authentication.platform.io/"
	return vendorNames{
		privateClaim: n.Translate("platform.io"),
		legacyIssuer: n.Translate("platform") + "/serviceaccount",
		namespace:    n.Translate(legacy + "namespace"),
		secret:       n.Translate(legacy + "secret.name"),
		account:      n.Translate(legacy + "service-account.name"),
		uid:          n.Translate(legacy + "service-account.uid"),
		credentialID: n.Translate(authn.CredentialID),
		podName:      n.Translate(extra + "pod-name"),
		podUID:       n.Translate(extra + "pod-uid"),
		nodeName:     n.Translate(extra + "node-name"),
		nodeUID:      n.Translate(extra + "node-uid"),
		secrets:      NewSecretNames(n),
	}
}

// A ref identifies an object by name and uid. A nil ref means no object.
type ref struct{ name, uid string }

func (r *ref) tree() tree.Tree {
	t := tree.Tree{"name": r.name}
	if r.uid != "" {
		t["uid"] = r.uid
	}
	return t
}

func readRef(t tree.Tree, name string) *ref {
	sub := t.Object(name)
	if sub == nil {
		return nil
	}
	return &ref{sub.String("name"), sub.String("uid")}
}

// A binding holds the objects to which a token is bound in addition to its account. If pod is set,
// node is the Pod's node and only informational.
type binding struct{ pod, secret, node *ref }

type tokenInfo struct {
	Account
	binding
	id        string // token ID; "" for a legacy token
	legacy    string // name of a legacy token's Secret
	audiences []string
	notBefore int64 // seconds since 1970
	expires   int64 // seconds since 1970; 0 means never
}

// claimTree converts claims to a Tree. It takes ownership of c.
func claimTree(c jwt.MapClaims) tree.Tree { return tree.Of(map[string]any(c)).(tree.Tree) }

func (n *vendorNames) read(c jwt.MapClaims) (f tokenInfo, ok bool) {
	t := claimTree(c)
	private := t.Object(n.privateClaim)
	account := readRef(private, "serviceaccount")
	if account == nil {
		return f, false
	}
	f.Account = Account{private.String("namespace"), account.name, account.uid}
	f.binding = binding{readRef(private, "pod"), readRef(private, "secret"), readRef(private, "node")}
	f.id = t.String("jti")
	subject, _ := c.GetSubject()
	return f, f.UID != "" && subject == f.Username()
}

func (n *vendorNames) readLegacy(c jwt.MapClaims) (f tokenInfo, ok bool) {
	t := claimTree(c)
	f.Account = Account{t.String(n.namespace), t.String(n.account), t.String(n.uid)}
	f.legacy = t.String(n.secret)
	subject, _ := c.GetSubject()
	return f, f.UID != "" && f.legacy != "" && subject == f.Username()
}

func (n *vendorNames) user(f tokenInfo) *authn.User {
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
