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

// A Wish is whom a request asks to act as. Its parts stand in the order in which each is to be
// allowed.
type Wish struct {
	parts   []part
	grouped bool // it names groups
}

// A part is one value of a wish.
type part struct {
	sort      sort
	namespace string // of a service account
	value     string
	key       string // of an extra
}

type sort uint8

const (
	ofUser sort = iota
	ofAccount
	ofGroup
	ofExtra
	ofUID
)

// The headers, in lower case.
const (
	prefix      = "impersonate-"
	userHeader  = prefix + "user"
	groupHeader = prefix + "group"
	uidHeader   = prefix + "uid"
	extraHeader = prefix + "extra-"
)

// Asked tells whether a header is one that Read reads; name is in any case.
func Asked(name string) bool {
	if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
		return false
	}
	switch name = strings.ToLower(name); name {
	case userHeader, groupHeader, uidHeader:
		return true
	}
	return strings.HasPrefix(name, extraHeader)
}

// Read finds the wish of a request, and takes its headers out; nil if it has none. The error is
// a *meta.Status, 400: it does not say as whom, or says so twice.
func Read(headers authn.Headers, naming *meta.Naming) (*Wish, error) {
	var names, users, uids []string
	var groups, extras []part
	for name, value := range headers.All() {
		if !Asked(name) {
			continue
		}
		names = append(names, name)
		switch name = strings.ToLower(name); name {
		case userHeader:
			users = append(users, value)
		case uidHeader:
			uids = append(uids, value)
		case groupHeader:
			groups = append(groups, part{sort: ofGroup, value: value})
		default:
			extras = append(extras, part{sort: ofExtra, value: value, key: authn.ExtraKey(name[len(extraHeader):])})
		}
	}
	for _, name := range names {
		headers.Remove(name)
	}
	w := &Wish{grouped: len(groups) > 0}
	for _, user := range users {
		w.parts = append(w.parts, userPart(user))
	}
	w.parts = slices.Concat(w.parts, groups, extras)
	for _, uid := range uids {
		w.parts = append(w.parts, part{sort: ofUID, value: uid})
	}
	switch {
	case len(w.parts) == 0:
		return nil, nil
	case len(users) == 0 || users[0] == "":
		return nil, meta.NewBadRequest(fmt.Sprintf("requested %s without impersonating a user", w.text(naming)))
	case len(users) > 1 || len(uids) > 1:
		return nil, meta.NewBadRequest(fmt.Sprintf("requested %s: more than one user or uid", w.text(naming)))
	}
	return w, nil
}

func userPart(name string) part {
	if a, ok := serviceaccount.Parse(name); ok && rules.Label(a.Namespace) == nil && rules.Subdomain(a.Name) == nil {
		return part{sort: ofAccount, namespace: a.Namespace, value: a.Name}
	}
	return part{sort: ofUser, value: name}
}

// text is the wish as messages show it.
func (w *Wish) text(naming *meta.Naming) string {
	authentication := naming.Name("authentication.platform.io/v1")
	texts := make([]string, len(w.parts))
	for i, p := range w.parts {
		kind := [...]string{ofUser: "User", ofAccount: "ServiceAccount", ofGroup: "Group", ofExtra: "UserExtra", ofUID: "UID"}[p.sort]
		version := ""
		if p.sort == ofExtra || p.sort == ofUID {
			version = authentication
		}
		texts[i] = fmt.Sprintf("{%s %s %s  %s  %s}", kind, p.namespace, p.value, version, p.key)
	}
	return "[" + strings.Join(texts, " ") + "]"
}
