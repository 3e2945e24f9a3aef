// Package auth asks a running daemon who it believes its clients to be and what it lets
// them do: the ways to authenticate, the modes of authorization, impersonation, reviews,
// tokens, audit, and TLS. Each part has a file, and what it talks to (providers, webhooks,
// proxies, files that change) is real and in the same process.
package auth
