// Package ownership holds kinds/ownership against the public implementation of managed
// fields and server-side apply: the same writes, made at random on every kind, must leave the
// same objects and the same owners.
//
// In a soak (TROUPE_SOAK) three rare differences remain, which are to stay: a conversion of the
// public types makes fields that are always written, so that an applier who changes its
// version cannot drop them there; it loses empty objects that it keeps in annotations, so that
// their owners are not told; and an object of a status that has lost all its fields stays
// there without its content.
package ownership
