// Package rest sends requests to the server of a kubeconfig. Error responses become *StatusError;
// warnings are printed immediately.
package rest
