// Package webhook checks how the server is to reach a webhook, for all kinds that name one.
//
// Admission webhooks, conversion webhooks and APIServices name their servers in the same form. What is
// checked here is the form alone: a webhook need not run when it is registered, so nobody is asked.
package webhook
