// Package extensions says how controllers see the servers that extend the API.
package extensions
