// Package extensions defines how controllers access extension API servers.
package extensions
