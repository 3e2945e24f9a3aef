// Package admissionregistration holds the rules of admission policies, their bindings, and webhook
// configurations.
//
// The structure is checked on every write of the stored version. Expressions are compiled only on
// writes through a served version (ValidateServed), and only if they have changed. A stored object
// thus stays writable even if another server version offers other functions. Packages
// policy/admission/admissionpolicy and policy/admission/webhook run the accepted objects.
package admissionregistration
