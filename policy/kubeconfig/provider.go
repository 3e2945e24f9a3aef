package kubeconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

type authProvider struct {
	Name   string            `json:"name"`
	Config map[string]string `json:"config"`
}

const (
	settingIssuer       = "idp-issuer-url"
	settingCA           = "idp-certificate-authority"
	settingCAData       = "idp-certificate-authority-data"
	settingClientID     = "client-id"
	settingSecret       = "client-secret"
	settingIDToken      = "id-token"
	settingRefreshToken = "refresh-token"
)

// A provider obtains the OpenID Connect ID token of a user. It uses the token in the kubeconfig
// until the token expires, and then obtains a new one with the refresh token. It writes new tokens
// to the kubeconfig, because a refresh token may be valid only once.
type provider struct {
	user     user
	programs Programs
	client   *http.Client

	mu     sync.Mutex // guards the fields below
	config map[string]string
}

func newProvider(u user, programs Programs) (*provider, error) {
	config := u.Provider.Config
	if u.Provider.Name != "oidc" {
		return nil, fmt.Errorf("name %q is not supported: use oidc, or a credential plugin (exec)", u.Provider.Name)
	}
	if config[settingIDToken] != "" && config[settingRefreshToken] == "" {
		return &provider{user: u, config: config}, nil
	}
	for _, setting := range []string{settingIssuer, settingClientID} {
		if config[setting] == "" {
			return nil, fmt.Errorf("config.%s is required", setting)
		}
	}
	if issuer, err := url.Parse(config[settingIssuer]); err != nil || issuer.Scheme != "https" || issuer.Host == "" {
		return nil, fmt.Errorf("config.%s is not an https URL", settingIssuer)
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	ca, err := u.dir.pem(config[settingCAData], config[settingCA])
	if err != nil {
		return nil, fmt.Errorf("config.%s: %w", settingCA, err)
	}
	if ca != nil {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("config.%s has no certificate", settingCA)
		}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10}
	return &provider{user: u, programs: programs, config: config, client: &http.Client{Transport: transport}}, nil
}

// leeway is subtracted from the expiry of a token, so that the token does not expire in transit.
const leeway = 10 * time.Second

func (p *provider) token(ctx context.Context, refused *issued) (*issued, error) {
	i, err := p.try(ctx, refused)
	if err != nil {
		return nil, fmt.Errorf("the identity provider of user %q: %w", p.user.name, err)
	}
	return i, nil
}

func (p *provider) try(ctx context.Context, refused *issued) (*issued, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := usable(p.config, refused); i != nil {
		return i, nil
	}
	// Another process may have written newer tokens.
	if newer, err := readFiles(p.user.path); err == nil {
		if u := newer.users[p.user.name]; u.Provider != nil && u.Provider.Name == "oidc" {
			p.config = u.Provider.Config
			if i := usable(p.config, refused); i != nil {
				return i, nil
			}
		}
	}
	if p.config[settingRefreshToken] == "" || p.client == nil {
		return nil, errors.New("the id-token has expired or was rejected, and there is no refresh-token: sign in again")
	}
	ctx, cancel := context.WithTimeout(ctx, p.programs.timeout())
	defer cancel()
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	i := usable(p.config, nil)
	if i == nil {
		return nil, errors.New("it issued an id-token that has already expired: check the clocks")
	}
	return i, nil
}

func usable(config map[string]string, refused *issued) *issued {
	token := config[settingIDToken]
	expires, ok := expiry(token)
	if !ok || time.Now().After(expires) || refused != nil && refused.token == token {
		return nil
	}
	return &issued{token: token, expires: expires}
}

// expiry returns the expiry of an ID token, reduced by leeway, or false if the token is not a JWT
// with an expiry. It does not verify the signature.
func expiry(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Expires json.Number `json:"exp"`
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		return time.Time{}, false
	}
	seconds, err := claims.Expires.Float64()
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0).Add(-leeway), true
}

// refresh obtains new tokens and writes them to the kubeconfig. If the write fails, it prints only
// a warning, because this process can still use the tokens.
func (p *provider) refresh(ctx context.Context) error {
	endpoint, err := p.tokenEndpoint(ctx)
	if err != nil {
		return err
	}
	c := oauth2.Config{ClientID: p.config[settingClientID], ClientSecret: p.config[settingSecret], Endpoint: oauth2.Endpoint{TokenURL: endpoint}}
	got, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, p.client), &oauth2.Token{RefreshToken: p.config[settingRefreshToken]}).Token()
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("it rejected the refresh-token (%d %s): sign in again", refused.Response.StatusCode, refused.ErrorCode)
	case err != nil:
		return err
	}
	token, _ := got.Extra("id_token").(string)
	if token == "" {
		return errors.New("it returned no id_token for the refresh-token: sign in with the scope openid, or use a provider that returns one")
	}
	config := map[string]string{}
	maps.Copy(config, p.config)
	config[settingIDToken] = token
	if got.RefreshToken != "" {
		config[settingRefreshToken] = got.RefreshToken
	}
	p.config = config
	if err := p.save(config); err != nil {
		fmt.Fprintf(p.programs.stderr(), "Warning: new tokens of user %q could not be written to %s: %v\n", p.user.name, p.user.path, err)
	}
	return nil
}

func (p *provider) tokenEndpoint(ctx context.Context) (string, error) {
	where := strings.TrimSuffix(p.config[settingIssuer], "/") + "/.well-known/openid-configuration"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return "", err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxOutput))
	if err != nil {
		return "", err
	}
	var document struct {
		TokenEndpoint string `json:"token_endpoint"`
	}
	if err := json.Unmarshal(text, &document); answer.StatusCode != http.StatusOK || err != nil {
		return "", fmt.Errorf("%s returned status %d and no discovery document", where, answer.StatusCode)
	}
	if endpoint, err := url.Parse(document.TokenEndpoint); err != nil || endpoint.Scheme != "https" || endpoint.Host == "" {
		return "", fmt.Errorf("%s has no https URL as token_endpoint", where)
	}
	return document.TokenEndpoint, nil
}

func (p *provider) save(config map[string]string) error {
	return Edit(p.user.path, func(file map[string]any) error {
		entry := Entry(file, "users", p.user.name)
		inner, _ := entry["user"].(map[string]any)
		of, _ := inner["auth-provider"].(map[string]any)
		settings, _ := of["config"].(map[string]any)
		if settings == nil {
			return errors.New("the user was removed")
		}
		settings[settingIDToken], settings[settingRefreshToken] = config[settingIDToken], config[settingRefreshToken]
		return nil
	})
}
