package daemon

import "github.com/troupe-api/troupe/http"

// consoleOptions returns the options of the console, or nil if it is disabled. Users sign in with
// the OIDC provider, if one is configured.
func (f *frontEnd) consoleOptions() *http.ConsoleOptions {
	if !f.config.Serving.Console {
		return nil
	}
	return &http.ConsoleOptions{SignIn: f.consoleSignIn}
}

// consoleSignIn returns the endpoints of the OIDC provider, or nil until they are known.
func (f *frontEnd) consoleSignIn() *http.ConsoleSignIn {
	if f.authentication.oidc == nil {
		return nil
	}
	endpoints := f.authentication.oidc.SignIn()
	if endpoints == nil {
		return nil
	}
	return &http.ConsoleSignIn{
		ClientID:              f.config.Authentication.OIDC.ClientID,
		AuthorizationEndpoint: endpoints.AuthorizationEndpoint, TokenEndpoint: endpoints.TokenEndpoint,
	}
}
