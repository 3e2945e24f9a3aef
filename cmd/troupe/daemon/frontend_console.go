package daemon

import "github.com/troupe-api/troupe/http"

// consoleOptions returns the options of the console, or nil if it is disabled. Users sign in with
// the first configured OIDC issuer, if any.
func (f *frontEnd) consoleOptions() *http.ConsoleOptions {
	if !f.config.Serving.Console {
		return nil
	}
	return &http.ConsoleOptions{SignIn: f.consoleSignIn}
}

// consoleSignIn returns the endpoints of the first OIDC issuer, or nil until they are known.
func (f *frontEnd) consoleSignIn() *http.ConsoleSignIn {
	all := f.authentication.issuers.current.Load().all
	if len(all) == 0 {
		return nil
	}
	endpoints := all[0].SignIn()
	if endpoints == nil {
		return nil
	}
	return &http.ConsoleSignIn{
		ClientID: all[0].ClientID(), AuthorizationEndpoint: endpoints.AuthorizationEndpoint, TokenEndpoint: endpoints.TokenEndpoint,
	}
}
