// Package rest sends requests to a kubeconfig's server. It returns error responses as *StatusError
// and prints warnings immediately.
package rest
