// Package jsonpath evaluates the JSONPath subset that clients and printer columns of custom kinds
// use. It works on the server's JSON without decoding it.
package jsonpath
