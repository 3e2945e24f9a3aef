// Package rest sends requests to a server of these conventions, as a client configuration describes it. A failure that the server
// tells is a *StatusError; warnings of the server go to people at once.
package rest
