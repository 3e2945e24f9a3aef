// Package jsonpath evaluates the subset of JSONPath that printer columns of custom kinds and
// clients use. It works on the server's JSON without decoding it.
package jsonpath
