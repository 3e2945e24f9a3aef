// Package webhook checks the client configuration of admission webhooks, conversion webhooks and
// APIServices. It checks only the form: a webhook need not run when it is registered.
package webhook
