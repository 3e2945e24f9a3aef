// Package remote sends requests to services outside the process: webhooks of authentication,
// authorization, admission and audit, and a running daemon for the operator's commands.
//
// A Client serves one service, described by a kubeconfig file (package kubeconfig) or by Options.
// Post sends a JSON body; PostWithRetry retries it by a Backoff; Ask returns responses with any
// code; Get returns the response body as a stream. A StatusError is a response other than 200 and
// 201.
//
// Invariants: redirects are never followed, and are errors except for Ask; responses to Post are
// bounded; everything ends with its context; errors contain neither bodies nor credentials.
package remote
