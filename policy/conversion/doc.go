// Package conversion asks the conversion webhooks of definitions: what a version of a custom kind shows of objects that were
// written in another one.
//
// The nouns: Webhooks are all of them; a webhook is that of one definition as it is now (schema.ConversionWebhook); a
// question is a ConversionReview with objects that all are to get one version; what a webhook answers for an object is
// checked against the object it was asked about.
//
// # An answer
//
// It must be the one to the question, as many objects as were asked about and in their order, each of the kind and the
// version that were asked for, with the name, namespace and uid that it had. Of the metadata a webhook may change labels
// and annotations; the rest is that of the object as it was, whatever the answer says. The rest of the object is pruned by
// the schema of the version, and gets no defaults: those of the version in which it was written are in it already.
//
// # Limits
//
// A question ends with its context, or after 30 seconds; an answer has at most 16 MiB; redirects are not followed. While a
// webhook cannot be connected to, questions fail at once (package webhookclient). The clients of the webhooks that were
// asked last are kept, with their connections, for a bounded number of addresses.
//
// # Errors
//
// All are a *meta.Status of the code 500 whose message is the one that clients know.
package conversion
