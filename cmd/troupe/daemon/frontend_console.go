package daemon

import "github.com/troupe-api/troupe/http"

// consoleOptions is how the console is served; nil if it is switched off. People sign in with the provider of identity
// tokens, if there is one.
func (d *Daemon) consoleOptions() *http.ConsoleOptions {
	if !d.config.Serving.Console {
		return nil
	}
	return &http.ConsoleOptions{SignIn: d.consoleSignIn}
}

// consoleSignIn is nil while the provider has not said where people sign in.
func (d *Daemon) consoleSignIn() *http.ConsoleSignIn {
	if d.identityTokens == nil {
		return nil
	}
	endpoints := d.identityTokens.SignIn()
	if endpoints == nil {
		return nil
	}
	return &http.ConsoleSignIn{
		ClientID:              d.config.Authentication.OIDC.ClientID,
		AuthorizationEndpoint: endpoints.AuthorizationEndpoint, TokenEndpoint: endpoints.TokenEndpoint,
	}
}
