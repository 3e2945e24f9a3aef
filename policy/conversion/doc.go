// Package conversion calls the conversion webhooks of CRDs to convert custom objects between
// versions.
//
// Webhooks holds all of them. A webhook is that of one CRD in its current state
// (schema.ConversionWebhook). A question is a ConversionReview request whose objects all get one
// version.
//
// # Responses
//
// A response must carry the UID of the request and as many objects, in the same order. Each has the
// requested kind and version, and its original name, namespace and UID. A webhook may change labels
// and annotations; other metadata is restored. The object is pruned by the schema of the target
// version without defaulting, since it has the defaults of its written version.
//
// # Limits
//
// A call ends with its context or after 30 seconds. A response has at most 16 MiB. Redirects are
// not followed. While a webhook is unreachable, calls fail immediately (package webhookclient).
// Clients of unused webhooks are closed.
//
// # Errors
//
// All errors are a *meta.Status with code 500 and the message of Kubernetes.
package conversion
