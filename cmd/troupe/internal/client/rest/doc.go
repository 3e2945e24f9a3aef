// Package rest sends requests to the server of a kubeconfig. It returns error responses as
// *StatusError, and prints warnings immediately.
package rest
