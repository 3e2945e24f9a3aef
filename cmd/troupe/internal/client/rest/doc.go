// Package rest sends requests to the server in a kubeconfig. It returns error responses as
// *StatusError and prints warnings immediately.
package rest
