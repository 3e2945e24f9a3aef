// Package admissionregistration validates and defaults admission policies, policy bindings, and
// webhook configurations.
//
// Every write of the stored version validates the structure. Expressions are compiled only if they
// have changed, and only on writes through a served version (ValidateServed). A stored object
// therefore remains writable even if its expressions call functions that this server version lacks.
// Packages policy/admission/admissionpolicy and policy/admission/webhook evaluate accepted objects.
package admissionregistration
