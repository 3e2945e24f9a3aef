package impersonation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// A Request holds the headers that describe the requested user. Its parts are authorized in order.
type Request struct {
	parts     []part
	hasGroups bool // any group is requested
}

// A part is one header value of a Request.
type part struct {
	kind      partKind
	namespace string // namespace of a service account
	value     string
	key       string // key of an extra attribute
}

type partKind uint8

const (
	kindUser partKind = iota
	kindServiceAccount
	kindGroup
	kindExtra
	kindUID
)

// Header names in lower case.
const (
	headerPrefix = "impersonate-"
	userHeader   = headerPrefix + "user"
	groupHeader  = headerPrefix + "group"
	uidHeader    = headerPrefix + "uid"
	extraHeader  = headerPrefix + "extra-"
)

// IsHeader reports whether name, which is case-insensitive, is an impersonation header.
func IsHeader(name string) bool {
	if len(name) < len(headerPrefix) || !strings.EqualFold(name[:len(headerPrefix)], headerPrefix) {
		return false
	}
	switch name = strings.ToLower(name); name {
	case userHeader, groupHeader, uidHeader:
		return true
	}
	return strings.HasPrefix(name, extraHeader)
}

// ExtractRequest reads and removes the impersonation headers. It returns nil if there are none.
// Unless there is exactly one user and at most one uid, it returns a *meta.Status with code 400.
func ExtractRequest(headers authn.Headers, naming *meta.Naming) (*Request, error) {
	var names, users, uids []string
	var groups, extras []part
	for name, value := range headers.All() {
		if !IsHeader(name) {
			continue
		}
		names = append(names, name)
		switch name = strings.ToLower(name); name {
		case userHeader:
			users = append(users, value)
		case uidHeader:
			uids = append(uids, value)
		case groupHeader:
			groups = append(groups, part{kind: kindGroup, value: value})
		default:
			extras = append(extras, part{kind: kindExtra, value: value, key: authn.ExtraKey(name[len(extraHeader):])})
		}
	}
	for _, name := range names {
		headers.Remove(name)
	}
	w := &Request{hasGroups: len(groups) > 0}
	for _, user := range users {
		w.parts = append(w.parts, userPart(user))
	}
	w.parts = slices.Concat(w.parts, groups, extras)
	for _, uid := range uids {
		w.parts = append(w.parts, part{kind: kindUID, value: uid})
	}
	switch {
	case len(w.parts) == 0:
		return nil, nil
	case len(users) == 0 || users[0] == "":
		return nil, meta.NewBadRequest(fmt.Sprintf("requested %s without impersonating a user", w.describe(naming)))
	case len(users) > 1 || len(uids) > 1:
		return nil, meta.NewBadRequest(fmt.Sprintf("requested %s: more than one user or uid", w.describe(naming)))
	}
	return w, nil
}

func userPart(name string) part {
	if a, ok := serviceaccount.ParseUsername(name); ok && rules.Label(a.Namespace) == nil && rules.Subdomain(a.Name) == nil {
		return part{kind: kindServiceAccount, namespace: a.Namespace, value: a.Name}
	}
	return part{kind: kindUser, value: name}
}

// describe formats the Request for error messages, as kube-apiserver does.
func (w *Request) describe(naming *meta.Naming) string {
	authentication := naming.Translate("authentication.platform.io/v1")
	texts := make([]string, len(w.parts))
	for i, p := range w.parts {
		kind := [...]string{kindUser: "User", kindServiceAccount: "ServiceAccount", kindGroup: "Group", kindExtra: "UserExtra", kindUID: "UID"}[p.kind]
		version := ""
		if p.kind == kindExtra || p.kind == kindUID {
			version = authentication
		}
		texts[i] = fmt.Sprintf("{%s %s %s  %s  %s}", kind, p.namespace, p.value, version, p.key)
	}
	return "[" + strings.Join(texts, " ") + "]"
}
