// Package conversion calls the conversion webhooks of CRDs, which convert custom objects between
// versions.
//
// Webhooks calls the webhooks of all CRDs. A schema.ConversionWebhook is the current webhook of one
// CRD. A question is a ConversionReview request that converts objects to one version.
//
// # Responses
//
// A response must have the request's UID, and the same number of objects in the same order. Each
// object must have the requested kind and version, and its original name, namespace and UID. A
// webhook may change labels and annotations. Changes to other metadata are ignored. The object is
// pruned by the target version's schema. It is not defaulted, because it was defaulted in the
// version in which it was written.
//
// # Limits
//
// A call ends with its context or after 30 seconds. Responses are limited to 16 MiB. Redirects are
// not followed. While a webhook is unreachable, calls fail immediately (package webhookclient). The
// HTTP clients of unused webhooks are closed.
//
// # Errors
//
// All errors are a *meta.Status with code 500 and kube-apiserver's message.
package conversion
