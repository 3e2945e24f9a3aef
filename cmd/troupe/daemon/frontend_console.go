package daemon

import "github.com/troupe-api/troupe/http"

// consoleOptions is how the console is served; nil if it is switched off. People sign in with the provider of identity
// tokens, if there is one.
func (f *frontEnd) consoleOptions() *http.ConsoleOptions {
	if !f.config.Serving.Console {
		return nil
	}
	return &http.ConsoleOptions{SignIn: f.consoleSignIn}
}

// consoleSignIn is nil while the provider has not said where people sign in.
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
