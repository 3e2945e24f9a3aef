// Package conversion calls the conversion webhooks of CRDs, which convert custom objects between
// versions.
//
// Webhooks calls all of them. A schema.ConversionWebhook is the webhook of one CRD in its current
// state. A question is a ConversionReview request that converts objects to one version.
//
// # Responses
//
// A response must have the UID of the request, and the same number of objects in the same order.
// Each must have the requested kind and version, and its original name, namespace and UID. A
// webhook may change labels and annotations. Other metadata is restored. The object is pruned by
// the schema of the target version. It is not defaulted, because it has the defaults of the version
// in which it was written.
//
// # Limits
//
// A call ends with its context or after 30 seconds. A response has at most 16 MiB. Redirects are
// not followed. While a webhook is unreachable, calls fail immediately (package webhookclient).
// Clients of unused webhooks are closed.
//
// # Errors
//
// All errors are a *meta.Status with code 500 and the message that Kubernetes uses.
package conversion
