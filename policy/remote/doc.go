// Package remote sends requests to services outside the process: webhooks and, for operator
// commands, a running server.
//
// A Client connects to one service, described by a kubeconfig (package kubeconfig) or by Options. A
// StatusError reports a status code other than 200 and 201.
//
// # Invariants
//
//   - Redirects are never followed. Ask returns a redirect like any other response, and all other
//     methods return an error.
//   - Responses to Post and Ask are limited in size.
//   - Errors contain neither bodies nor credentials.
package remote
