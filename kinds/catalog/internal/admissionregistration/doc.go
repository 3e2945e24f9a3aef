// Package admissionregistration holds the rules of admission policies, their bindings, and the
// configurations of admission webhooks.
package admissionregistration
