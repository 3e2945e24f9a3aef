// Package custom tests kinds that are defined while the server runs, from outside.
package custom
