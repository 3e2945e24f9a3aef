// Package admissionregistration holds the rules of admission policies, their bindings, and webhook
// configurations.
//
// Every write of the stored version checks the structure. Expressions are compiled only if they
// have changed, and only on writes through a served version (ValidateServed). A stored object stays
// writable even if its expressions call functions that this server version lacks. Packages
// policy/admission/admissionpolicy and policy/admission/webhook evaluate the accepted objects.
package admissionregistration
