// Package admissionregistration holds the rules of admission policies, their bindings, and the
// configurations of admission webhooks.
//
// Two notions run through all of them. Structure is checked on every write of the stored version.
// Expressions are compiled only on writes through a served version, and only if they have changed
// (ValidateServed): a newer server may know other functions, and an object that was accepted once must stay
// writable. What the accepted objects do is in packages policy/admission/admissionpolicy and
// policy/admission/webhook.
package admissionregistration
