// Package jsonpath evaluates the subset of JSONPath that columns of custom kinds and clients use.
// It works on JSON text as the server writes it, without decoding.
package jsonpath
