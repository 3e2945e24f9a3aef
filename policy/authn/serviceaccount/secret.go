package serviceaccount

import (
	"encoding/base64"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// SecretNames are the type, the annotations and the labels of Secrets that hold the token of a service
// account, in the spelling of a profile.
type SecretNames struct {
	Type         string
	Account      string // the annotation with the name of the account
	UID          string // the annotation with the uid of the account
	LastUsed     string // the label with the day on which the token was last used
	InvalidSince string // the label with the day since when the token is not valid any more
}

// NewSecretNames returns the names under a profile.
func NewSecretNames(n *meta.Naming) SecretNames {
	return SecretNames{
		Type:    n.Translate("platform.io/service-account-token"),
		Account: n.Translate("platform.io/service-account.name"),
		UID:     n.Translate("platform.io/service-account.uid"),

		LastUsed:     n.Translate("platform.io/legacy-token-last-used"),
		InvalidSince: n.Translate("platform.io/legacy-token-invalid-since"),
	}
}

// IsLastUsedStale tells whether a use now has to be noted in the label of a Secret: it is noted once a day. Where clocks differ it
// may already say tomorrow.
func IsLastUsedStale(labels meta.Labels, label string, now time.Time) bool {
	last, _ := labels.Get(label)
	today := now.UTC()
	return last != today.Format(time.DateOnly) && last != today.AddDate(0, 0, 1).Format(time.DateOnly)
}

// The keys of the data of such a Secret.
const (
	TokenKey     = "token"
	CAKey        = "ca.crt"
	NamespaceKey = "namespace"
)

// A TokenSecret is a Secret that holds the token of a service account, or is to hold one.
type TokenSecret struct {
	Account string    // the name of the account, in the namespace of the Secret
	UID     string    // the uid of the account; "" until the Secret is filled
	Data    tree.Tree // the data of the Secret, values in base64
}

// Read reads a Secret. ok is false if it is of another type.
func (n SecretNames) Read(secret tree.Tree) (s TokenSecret, ok bool) {
	if secret.String("type") != n.Type {
		return s, false
	}
	annotations := secret.Object("metadata", "annotations")
	return TokenSecret{Account: annotations.String(n.Account), UID: annotations.String(n.UID), Data: secret.Object("data")}, true
}

// Token is the token that the Secret holds.
func (s TokenSecret) Token() ([]byte, error) {
	return base64.StdEncoding.DecodeString(s.Data.String(TokenKey))
}
