package serviceaccount

import (
	"encoding/base64"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// SecretNames holds the type, annotation and label names of service account token Secrets in a
// naming profile.
type SecretNames struct {
	Type         string
	Account      string // annotation with the name of the account
	UID          string // annotation with the uid of the account
	LastUsed     string // label with the day of the last use
	InvalidSince string // label with the day on which the token was invalidated
}

// NewSecretNames returns the SecretNames of a naming profile.
func NewSecretNames(n *meta.Naming) SecretNames {
	return SecretNames{
		Type:    n.Translate("platform.io/service-account-token"),
		Account: n.Translate("platform.io/service-account.name"),
		UID:     n.Translate("platform.io/service-account.uid"),

		LastUsed:     n.Translate("platform.io/legacy-token-last-used"),
		InvalidSince: n.Translate("platform.io/legacy-token-invalid-since"),
	}
}

// IsLastUsedStale reports whether a Secret's last-used label must be updated. A date of tomorrow is
// not stale, because another server's clock may be ahead.
func IsLastUsedStale(labels meta.Labels, label string, now time.Time) bool {
	last, _ := labels.Get(label)
	today := now.UTC()
	return last != today.Format(time.DateOnly) && last != today.AddDate(0, 0, 1).Format(time.DateOnly)
}

const (
	TokenKey     = "token"
	CAKey        = "ca.crt"
	NamespaceKey = "namespace"
)

// A TokenSecret is a decoded service account token Secret. A new Secret has no token until a
// controller adds one.
type TokenSecret struct {
	Account string    // name of the account in the Secret's namespace
	UID     string    // uid of the account; "" until the Secret is filled
	Data    tree.Tree // data of the Secret, base64 values
}

// Read decodes a token Secret. ok is false if the Secret has another type.
func (n SecretNames) Read(secret tree.Tree) (s TokenSecret, ok bool) {
	if secret.String("type") != n.Type {
		return s, false
	}
	annotations := secret.Annotations()
	return TokenSecret{Account: annotations.String(n.Account), UID: annotations.String(n.UID), Data: secret.Object("data")}, true
}

// Token returns the decoded token, which is empty if it has not been added yet.
func (s TokenSecret) Token() ([]byte, error) {
	return base64.StdEncoding.DecodeString(s.Data.String(TokenKey))
}
