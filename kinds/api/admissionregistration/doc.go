// Package admissionregistration holds the rules of admission policies, their bindings, and webhook
// configurations.
//
// The structure is checked on every write of the stored version. Expressions are compiled only when
// they change, on writes through a served version (ValidateServed): another server version may have
// other functions, and a stored object must stay writable. Packages
// policy/admission/admissionpolicy and policy/admission/webhook run the accepted objects.
package admissionregistration
