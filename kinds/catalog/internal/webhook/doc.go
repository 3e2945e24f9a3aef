// Package webhook checks how the server is to reach a webhook, for all kinds that name one.
package webhook
