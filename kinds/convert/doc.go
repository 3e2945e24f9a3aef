// Package convert turns objects between the form in which they are stored and the forms
// in which versions and sub-resources show them.
//
// An object has one stored form (schema.Kind.Stored). Another version of its kind, or a kind
// of another group that shares the storage, shows it through a schema.Conversion; a
// sub-resource that speaks a kind of its own shows it through a schema.View. Both lose
// nothing that a write back would need. An object that is asked for in its stored form is
// given as it is, without a look at it.
package convert
