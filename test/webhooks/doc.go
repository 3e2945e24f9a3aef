// Package webhooks tests admission webhooks over HTTP, with real servers of webhooks over TLS in this process:
// which requests they are asked about, what they are told, what becomes of what they answer, and what happens
// if they are slow, dead or lie.
package webhooks
