// Package webhook validates the client configuration of admission webhooks, conversion webhooks and
// APIServices. It does not contact the webhook, which may start later.
package webhook
