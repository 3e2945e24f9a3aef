package daemon

import (
	"io"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// oidcDiscovery returns the routes of the OIDC discovery documents, or none if the issuer is not a
// discoverable URL. The documents are encoded once, because the keys never change after startup.
func (f *frontEnd) oidcDiscovery() (map[string]http.ExtraRoute, error) {
	a := f.identity.tokens
	// New tokens use the first issuer. Other issuers publish their own documents.
	if !serviceaccount.Discoverable(a.issuers[0]) {
		return map[string]http.ExtraRoute{}, nil
	}
	at := f.config.ServiceAccounts.JWKSURI
	if at == "" {
		at = f.endpoint.advertisedURL() + serviceaccount.KeysPath
	}
	configuration, err := serviceaccount.DiscoveryDocument(a.issuers[0], at, a.keys)
	if err != nil {
		return nil, err
	}
	keys, err := serviceaccount.KeySet(a.keys)
	if err != nil {
		return nil, err
	}
	document := func(contentType string, text []byte) http.ExtraRoute {
		return http.ExtraRoute{ContentType: contentType, Write: func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}}
	}
	return map[string]http.ExtraRoute{
		serviceaccount.DiscoveryPath: document(serviceaccount.DiscoveryType, configuration),
		serviceaccount.KeysPath:      document(serviceaccount.KeysType, keys),
	}, nil
}
