// Package http is the front: it parses requests strictly and once, runs the filters,
// routes, negotiates, streams and writes every answer.
package http
